import { describe, expect, test } from 'bun:test'
import { createMintId } from '../../os/ids.ts'
import { feedCursor, feedResponse, pageRequest, pageResponse } from './page.ts'

const mint = createMintId(
  { now: () => 1_795_262_400_000, sleep: async () => {} },
  { bytes: (size) => new Uint8Array(size).fill(7), fraction: () => 0 },
)
const id = mint('msg')
// biome-ignore lint/suspicious/noExplicitAny: the body of a list
const cursorOf = (answer: { body: any }): string => answer.body.next_cursor

describe('a cursor', () => {
  test('returns the id it was made from', () => {
    const answer = pageResponse({ records: [{ id: 'x' }, { id }], hasMore: true }, (record) => record.id)
    expect(answer.body).toMatchObject({ data: ['x', id], has_more: true })
    expect(pageRequest({ limit: 7, cursor: cursorOf(answer) })).toEqual({ limit: 7, after: id })
    expect(cursorOf(answer)).toMatch(/^[A-Za-z0-9_-]{42}$/)
  })

  test('is absent on the last page, and on an empty one', () => {
    expect(cursorOf(pageResponse({ records: [{ id }], hasMore: false }, (record) => record))).toBeNull()
    expect(pageResponse({ records: [], hasMore: true }, (record) => record).body).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
    })
    expect(pageRequest({ limit: 25 })).toEqual({ limit: 25, after: null })
  })

  test('of one direction is invalid in the other', () => {
    const feed = cursorOf(feedResponse({ records: [{ id }], hasMore: true }, (record) => record))
    const page = cursorOf(pageResponse({ records: [{ id }], hasMore: true }, (record) => record))
    expect(feedCursor(feed)).toBe(id)
    expect(feedCursor(page)).toBeNull()
    expect(() => pageRequest({ limit: 25, cursor: feed })).toThrow(
      'cursor is invalid for this list. Use next_cursor of the previous page.',
    )
  })

  const bad = [
    '',
    'x',
    id,
    Buffer.from(`\x03${id}`).toString('base64url'),
    Buffer.from(`\x01${id}x`).toString('base64url'),
    `${Buffer.from(`\x01${id}`).toString('base64url')}=`,
    Buffer.from(`\x01msg_${'-'.repeat(26)}`).toString('base64url'),
  ]
  test.each(bad)('that the API did not issue (%p) is refused', (cursor) => {
    expect(() => pageRequest({ limit: 25, cursor })).toThrow('cursor is invalid')
  })
})
