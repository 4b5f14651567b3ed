"""How RelevanceSVC reads tables: numbers and categories, which it learns to encode."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._records import dataclass
from ..base.reading import TableReader
from ..base.task import Labels
from .code_order import LEAST_ROWS, ordered_codes
from .column_options import ColumnOptions
from .columns import ColumnEncoding
from .large_table import EncodedTable, learn_encoding
from .limits import SWITCH, n_of_whole
from .table_input import check_table, check_training_table, column_names


@dataclass(frozen=True)
class ColumnReader(TableReader):
    """Reads tables of numbers and words, with gaps; its model keeps the encoding as ``columns_``.

    Parameters
    ----------
    model : RelevanceSVC
        The classifier.
    sparse : bool, default=False
        Whether sparse matrices are accepted; they are not.
    nan : bool, default=False
        Whether missing values are accepted.
    options : ColumnOptions, default=ColumnOptions()
        Which columns are categories, which share a weight, and whether gaps are filled.
    by_blocks : bool, default=False
        Whether large tables are encoded block by block, as they are read.
    orders : bool, default=False
        Whether categories whose order says something of the classes are read as numbers as well.
    """

    options: ColumnOptions = ColumnOptions()
    by_blocks: bool = False
    orders: bool = False
    strings: ClassVar[bool] = True

    def check(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check a training table and its labels; record the number and names of the columns."""
        return check_training_table(self.model, X, y)

    def training_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels]:
        """Learn from the rows that count what their columns are, and encode them."""
        model, names = self.model, column_names(self.model)
        if self.by_blocks and n_of_whole(len(y)) > SWITCH:
            labels = Labels.of(y, sample_weight, model.class_weight)  # in the order of the table
            model.columns_ = learn_encoding(X, names, labels, self.options)
            return EncodedTable(X, labels.rows, model.columns_), labels
        rows, labels = super().training_rows(X, y, sample_weight)
        encoding = ColumnEncoding.of(rows, names, labels.sample_weight, self.options)
        encoded = encoding.apply(rows)
        if self.orders and n_of_whole(len(encoded)) >= LEAST_ROWS:
            ordered = ordered_codes(
                encoding.categories, encoded, labels.classes, labels.sample_weight
            )
            encoding = encoding.with_order(ordered)
        model.columns_ = encoding
        return encoding.with_places(encoded), labels

    def new_rows(self, X: Any) -> Any:
        """Check that rows to predict have the columns of the training rows."""
        if not hasattr(self.model, "columns_"):  # of an older version, or for encoded rows
            return super().new_rows(X)
        return check_table(self.model, X)
