import { expect, test } from 'bun:test'
import { pixelsOf } from './pixels.ts'

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(24)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
const gif = Buffer.from([...Buffer.from('GIF89a'), 0x40, 0x01, 0xf0, 0x00])
const jpeg = Buffer.from([
  0xff, 0xd8, 0xff, 0xe0, 0x00, 0x04, 1, 2, 0xff, 0xc2, 0x00, 0x0b, 8, 0x00, 0x64, 0x00, 0xc8, 3,
])

test('PNG, GIF and JPEG have the size of their header', () => {
  expect([png(640, 480), gif, jpeg].map(pixelsOf)).toEqual([307_200, 320 * 240, 100 * 200])
  expect(pixelsOf(png(60_000, 60_000))).toBe(3_600_000_000)
})

test('other files and cut ones have none, whatever they are called', () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
  for (const bytes of [svg, Buffer.alloc(0), png(1, 1).subarray(0, 20), gif.subarray(0, 8), jpeg.subarray(0, 10)])
    expect(pixelsOf(bytes)).toBeNull()
  expect(pixelsOf(Buffer.from([0xff, 0xd8, ...Array(1_000_000).fill(0xff)]))).toBeNull()
})
