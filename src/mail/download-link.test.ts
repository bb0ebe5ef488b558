import { expect, test } from 'bun:test'
import { createDownloadLinks } from './download-link.ts'

const links = createDownloadLinks(Buffer.alloc(32, 1))
const ID = `inb_${'0'.repeat(26)}`

test('a link gives its part until it expires', () => {
  for (const part of ['raw', 1, 9999] as const) {
    const path = links.make({ inboundMessageId: ID, part }, 1_000)
    expect(links.read(path, 999)).toEqual({ inboundMessageId: ID, part })
    expect(links.read(path, 1_000)).toBeNull()
  }
})

test('a link with any other character, or of another server, gives nothing', () => {
  const path = links.make({ inboundMessageId: ID, part: 1 }, 1_000)
  for (let at = 0; at < path.length; at++) {
    const other = path[at] === '2' ? '3' : '2'
    expect(links.read(path.slice(0, at) + other + path.slice(at + 1), 0)).toBeNull()
  }
  expect(createDownloadLinks(Buffer.alloc(32, 2)).read(path, 0)).toBeNull()
  expect(links.read(`${path}x`, 0)).toBeNull()
  expect(links.read('/downloads/', 0)).toBeNull()
})
