/** Bytes of an image → its width times its height, read from the header; null unless it is a PNG, GIF or JPEG. A small
 *  file may unpack to gigabytes, so nothing is decoded. Linear in the size. */
export function pixelsOf(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const starts = (...magic: number[]) => magic.every((byte, at) => bytes[at] === byte)
  // PNG (third edition) §5.2, §11.2.1
  if (starts(0x89, 0x50, 0x4e, 0x47) && bytes.length >= 24) return view.getUint32(16) * view.getUint32(20)
  // GIF89a §18
  if (starts(0x47, 0x49, 0x46, 0x38) && bytes.length >= 10) return view.getUint16(6, true) * view.getUint16(8, true)
  return starts(0xff, 0xd8) ? pixelsOfJpeg(view) : null
}

/** The first frame header: SOF0 to SOF15, without DHT, JPG and DAC. ITU-T T.81 §B.1.1.3, §B.2.2 */
function pixelsOfJpeg(view: DataView): number | null {
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return view.getUint16(at + 5) * view.getUint16(at + 7)
    }
    at += 2 + Math.max(2, view.getUint16(at + 2))
  }
  return null
}
