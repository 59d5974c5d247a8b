use super::*;

#[test]
fn levels_made_in_bands_are_those_made_one_after_the_other() {
    #[cfg(feature = "bevy")]
    bevy::tasks::AsyncComputeTaskPool::get_or_init(Default::default);
    let sizes = [(64, 64), (32, 256), (40, 24), (16, 2), (7, 50), (1, 1)];
    let opaque = sizes.map(|size| (size, u8::MAX));
    for ((width, height), least_alpha) in sizes.map(|size| (size, 0)).into_iter().chain(opaque) {
        let mut data: Vec<u8> = (0..width * height * 4)
            .map(|i: usize| (i * i / 7 + i) as u8)
            .collect();
        for texel in data.chunks_mut(4) {
            texel[3] = texel[3].max(least_alpha);
        }
        let codec = Codec::<4>::new(Filter::Srgb);
        let mut exact: Vec<Vec4> = data.as_chunks().0.iter().map(|t| codec.decode(t)).collect();
        let mut size = [width, height];
        let mut rest = data.len();
        let color = Content::Color { cutoff: None };
        let levels = add_mips(&mut data, size, 4, true, color);
        assert_eq!(levels as usize, sizes_of(size).len());
        for half in sizes_of(size).into_iter().skip(1) {
            exact = halve(&exact, size, half);
            size = half;
            let mut texels = vec![0; size[0] * size[1] * 4];
            codec.encode(&exact, &mut texels);
            assert_eq!(
                data[rest..][..texels.len()],
                texels,
                "{width}x{height} at {size:?}"
            );
            rest += texels.len();
        }
        assert_eq!(rest, data.len());
    }
}

fn sizes_of(full: [usize; 2]) -> Vec<[usize; 2]> {
    super::sizes(full).collect()
}
