//! What a piece of work allocates.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Calls of the allocator, and the most bytes held at a time beyond those held before.
pub(crate) struct Counts {
    pub(crate) allocations: usize,
    pub(crate) peak: usize,
}

/// Does `work` and counts.
pub(crate) fn of(work: impl FnOnce()) -> Counts {
    let (before, held) = (ALLOCATIONS.load(Relaxed), HELD.load(Relaxed));
    PEAK.store(held, Relaxed);
    work();
    Counts {
        allocations: ALLOCATIONS.load(Relaxed) - before,
        peak: PEAK.load(Relaxed) - held,
    }
}

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting calls and bytes.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counts are plain atomic numbers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn grow(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
