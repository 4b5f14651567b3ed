"""From decision values to probabilities and prediction sets: arrays in, arrays out."""
