//! Many consecutive updates of one document in one self-describing blob.
