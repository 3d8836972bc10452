//! Boolean netlists: Bristol readers and writers, layering, evaluation.
