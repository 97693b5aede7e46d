//! Layers of well-known networks, as any user runs them: friendly shapes fail too. Data only.

/// One layer: channels, groups and per-axis fields, batch 1.
pub(super) struct Layer {
    /// Channels of the image.
    pub(super) c: i64,
    /// Filters.
    pub(super) k: i64,
    /// Groups.
    pub(super) g: i64,
    /// Per axis: input, filter, padding on both sides, stride, dilation.
    pub(super) axes: &'static [[i64; 5]],
}

const fn layer(c: i64, k: i64, g: i64, axes: &'static [[i64; 5]]) -> Layer {
    Layer { c, k, g, axes }
}

/// The list, each with the network that it is taken from.
pub(super) const LAYERS: [Layer; 26] = [
    // ResNet-50: stem, bottleneck, strided block, projection.
    layer(3, 64, 1, &[[224, 7, 3, 2, 1], [224, 7, 3, 2, 1]]),
    layer(64, 256, 1, &[[56, 1, 0, 1, 1], [56, 1, 0, 1, 1]]),
    layer(128, 128, 1, &[[56, 3, 1, 2, 1], [56, 3, 1, 2, 1]]),
    layer(512, 512, 1, &[[7, 3, 1, 1, 1], [7, 3, 1, 1, 1]]),
    layer(1024, 2048, 1, &[[14, 1, 0, 2, 1], [14, 1, 0, 2, 1]]),
    // VGG-16 and AlexNet.
    layer(3, 64, 1, &[[224, 3, 1, 1, 1], [224, 3, 1, 1, 1]]),
    layer(256, 512, 1, &[[28, 3, 1, 1, 1], [28, 3, 1, 1, 1]]),
    layer(3, 96, 1, &[[227, 11, 0, 4, 1], [227, 11, 0, 4, 1]]),
    layer(96, 256, 2, &[[27, 5, 2, 1, 1], [27, 5, 2, 1, 1]]),
    // ResNeXt-50 and MobileNetV2: grouped and depthwise.
    layer(128, 128, 32, &[[56, 3, 1, 1, 1], [56, 3, 1, 1, 1]]),
    layer(144, 144, 144, &[[56, 3, 1, 2, 1], [56, 3, 1, 2, 1]]),
    layer(960, 320, 1, &[[7, 1, 0, 1, 1], [7, 1, 0, 1, 1]]),
    // ConvNeXt-T: depthwise 7x7 and the downsampling layer.
    layer(96, 96, 96, &[[56, 7, 3, 1, 1], [56, 7, 3, 1, 1]]),
    layer(96, 192, 1, &[[56, 2, 0, 2, 1], [56, 2, 0, 2, 1]]),
    // Vision transformer patches and Inception-v3's split filters.
    layer(3, 768, 1, &[[224, 16, 0, 16, 1], [224, 16, 0, 16, 1]]),
    layer(128, 128, 1, &[[17, 1, 0, 1, 1], [17, 7, 3, 1, 1]]),
    layer(128, 192, 1, &[[17, 7, 3, 1, 1], [17, 1, 0, 1, 1]]),
    // DeepLab's dilated context and a diffusion model's U-Net and decoder.
    layer(512, 256, 1, &[[33, 3, 12, 1, 12], [33, 3, 12, 1, 12]]),
    layer(320, 4, 1, &[[64, 3, 1, 1, 1], [64, 3, 1, 1, 1]]),
    layer(512, 512, 1, &[[64, 3, 1, 1, 1], [64, 3, 1, 1, 1]]),
    // Speech: the feature encoder of wav2vec 2.0, its positional layer, WaveNet's dilated pair.
    layer(1, 512, 1, &[[1, 1, 0, 1, 1], [16000, 10, 0, 5, 1]]),
    layer(768, 768, 16, &[[1, 1, 0, 1, 1], [499, 128, 64, 1, 1]]),
    layer(64, 128, 1, &[[1, 1, 0, 1, 1], [4096, 2, 128, 1, 128]]),
    // Video and volumes: R(2+1)D's two halves and 3-D U-Net.
    layer(64, 144, 1, &[[8, 1, 0, 1, 1], [56, 3, 1, 1, 1], [56, 3, 1, 1, 1]]),
    layer(144, 64, 1, &[[8, 3, 1, 1, 1], [56, 1, 0, 1, 1], [56, 1, 0, 1, 1]]),
    layer(32, 64, 1, &[[64, 3, 1, 1, 1], [64, 3, 1, 1, 1], [64, 3, 1, 1, 1]]),
];
