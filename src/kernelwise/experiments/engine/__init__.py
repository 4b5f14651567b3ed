"""The engine of experiments: runs tasks, stores results, renders pages; knows nothing of SVMs."""
