//! Type-based alias analysis.
