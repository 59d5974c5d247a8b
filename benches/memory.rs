//! Counts the bytes in use.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicIsize, Ordering::Relaxed},
};

/// Bytes in use.
pub static KEPT: AtomicIsize = AtomicIsize::new(0);
/// The most bytes in use so far.
pub static PEAK: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, counting the bytes in use.
struct Counting;

// SAFETY: every call is forwarded to the system's allocator unchanged. The counts are atomic numbers, so counting
// never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    // By default, this writes zeros, and the next copies: the system does neither to large memory.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        KEPT.fetch_sub(layout.size() as isize, Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

fn count(added: isize) {
    PEAK.fetch_max(KEPT.fetch_add(added, Relaxed) + added, Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
