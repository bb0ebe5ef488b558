/** DER encoding (ITU-T X.690) of the types that our certificates need. Pure. */

/** Tag and length, followed by the contents. */
export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

export const sequence = (...items: Uint8Array[]) => tagged(0x30, ...items)
export const integer = (bytes: Uint8Array) => tagged(0x02, bytes)
export const octets = (bytes: Uint8Array) => tagged(0x04, bytes)
export const bitString = (bytes: Uint8Array) => tagged(0x03, Buffer.from([0]), bytes)
export const objectId = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'))

/** DER → PEM under a label like `CERTIFICATE`. RFC 7468 §2 */
export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
