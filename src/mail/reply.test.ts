import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createReplyReader, formatReply, parseReplyLine, type Reply, ReplyFault } from './reply.ts'

describe('a reply line', () => {
  test.each([
    ['250 OK', { code: 250, enhanced: null, text: 'OK', isLast: true }],
    ['250-SIZE 100', { code: 250, enhanced: null, text: 'SIZE 100', isLast: false }],
    ['250', { code: 250, enhanced: null, text: '', isLast: true }],
    ['250 ', { code: 250, enhanced: null, text: '', isLast: true }],
    ['550 5.1.1 No such user', { code: 550, enhanced: '5.1.1', text: 'No such user', isLast: true }],
    ['550 5.1.10', { code: 550, enhanced: '5.1.10', text: '', isLast: true }],
    ['554 #5.7.1: Go away', { code: 554, enhanced: '5.7.1', text: 'Go away', isLast: true }],
    ['550 4.7.1 other class', { code: 550, enhanced: null, text: '4.7.1 other class', isLast: true }],
    ['220 2.0.0.1 is a version', { code: 220, enhanced: null, text: '2.0.0.1 is a version', isLast: true }],
    ['250 2.1.5x', { code: 250, enhanced: null, text: '2.1.5x', isLast: true }],
  ])('%j is read', (line, expected) => {
    expect(parseReplyLine(line)).toEqual(expected)
  })

  test.each(['', 'HTTP/1.1 400 Bad Request', '25', '2500 OK', '250OK', '150 x', '650 x', ' 250 OK', '250_OK'])(
    '%j is not a reply',
    (line) => expect(parseReplyLine(line)).toBeNull(),
  )
})

describe('the reply reader', () => {
  const said =
    '220 mx.example ESMTP\r\n250-mx.example\r\n250-2.0.0 PIPELINING\n250 SIZE\r\n550-5.1.1 No\r\n550 5.1.1 user\r\n'
  const replies: Reply[] = [
    { code: 220, enhanced: null, text: 'mx.example ESMTP' },
    { code: 250, enhanced: '2.0.0', text: 'mx.example\nPIPELINING\nSIZE' },
    { code: 550, enhanced: '5.1.1', text: 'No\nuser' },
  ]

  test('gives the same replies however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: said.length }), (sizes) => {
        const reader = createReplyReader()
        const found: Reply[] = []
        for (let at = 0, n = 0; at < said.length; at += sizes[n++]!) {
          found.push(...reader.push(said.slice(at, Math.min(at + sizes[n]!, said.length))))
        }
        expect(found).toEqual(replies)
      }),
      { seed: 3 },
    )
  })

  test.each(['\r\n', '\n', ' \r\n', '\t\r\n', '\r\r\n', '\r\n\r\n \n'])(
    'skips %j before, in and behind a reply',
    (empty) => {
      const withEmpty = empty + said.replaceAll('\n', `\n${empty}`)
      expect(createReplyReader().push(withEmpty)).toEqual(replies)
      const reader = createReplyReader()
      expect([...withEmpty].flatMap((char) => reader.push(char))).toEqual(replies)
    },
  )

  test('counts empty lines for each reply on its own', () => {
    const reader = createReplyReader()
    for (let n = 0; n < 10; n++) expect(reader.push(`${'\r\n'.repeat(20)}250 OK\r\n`)).toHaveLength(1)
  })

  test('returns nothing for half a line or an unfinished reply', () => {
    const reader = createReplyReader()
    expect(reader.push('250-one\r\n25')).toEqual([])
    expect(reader.push('')).toEqual([])
    expect(reader.push('0 two\r')).toEqual([])
    expect(reader.push('\n')).toEqual([{ code: 250, enhanced: null, text: 'one\ntwo' }])
  })

  test.each([
    ['<html>\r\n'.repeat(21), 'not_a_reply'],
    ['100 trying\r\n', 'not_a_reply'],
    ['250-one\r\n600\r\n', 'not_a_reply'],
    [`250-one\r\n${'\0\r\n'.repeat(21)}`, 'not_a_reply'],
    ['\r\n'.repeat(21), 'too_long'],
    [`250-one\r\n${' \n'.repeat(21)}`, 'too_long'],
    [' '.repeat(70_000), 'too_long'],
    [`250 ${'x'.repeat(70_000)}`, 'too_long'],
    [`${'250-drip\r\n'.repeat(7_000)}`, 'too_long'],
  ])('refuses %#', (chunk, reason) => {
    const reader = createReplyReader()
    expect(faultOf(() => reader.push(chunk))?.reason).toBe(reason as ReplyFault['reason'])
    expect(faultOf(() => reader.push('250 OK\r\n'))?.reason).toBe(reason as ReplyFault['reason'])
  })

  test.each([
    ['thinking\r\n250 OK\r\n', { code: 250, enhanced: null, text: 'OK' }],
    [' 250 OK\r\n250 2.0.0 yes\r\n', { code: 250, enhanced: '2.0.0', text: 'yes' }],
    ['250-one\r\ntwo\r\n250 three\r\n', { code: 250, enhanced: null, text: 'one\nthree' }],
    ['250-one\r\n550 two\r\n', { code: 550, enhanced: null, text: 'one\ntwo' }],
    ['450-4.2.0 one\r\n550 5.1.1 two\r\n', { code: 550, enhanced: '5.1.1', text: 'one\ntwo' }],
    ['550-5.1.1 one\r\n250 two\r\n', { code: 250, enhanced: null, text: 'one\ntwo' }],
  ])('skips lines that are no reply, and takes the code of the last line, as Postfix does: %#', (text, reply) => {
    expect(createReplyReader().push(text)).toEqual([reply])
  })

  test('shows the stray line until the reply is whole', () => {
    const reader = createReplyReader()
    expect(reader.strayLine()).toBeNull()
    reader.push('SSH-2.0-OpenSSH_9.2\r\n\r\n')
    expect(reader.strayLine()).toBe('SSH-2.0-OpenSSH_9.2')
    reader.push('220 mx\r\n')
    expect(reader.strayLine()).toBeNull()
  })

  test('hands over the whole replies before a fault', () => {
    const fault = faultOf(() => createReplyReader().push(`250 OK\r\n550 5.1.1 No\r\n${'nonsense\r\n'.repeat(21)}`))
    expect(fault?.replies.map((reply) => reply.code)).toEqual([250, 550])
    expect(fault?.line).toBe('nonsense')
  })

  test('counts each reply on its own, and keeps to the bytes it was given', () => {
    const reader = createReplyReader({ maxBytes: 20 })
    for (let n = 0; n < 10; n++) expect(reader.push('250 just under it\r\n')).toHaveLength(1)
    expect(faultOf(() => reader.push('250 this is too long'))).toBeNull()
    expect(faultOf(() => reader.push('!'))?.reason).toBe('too_long')
  })
})

test('a reply is written in one line without control characters', () => {
  expect(formatReply({ code: 550, enhanced: '5.1.1', text: 'No such\nuser' })).toBe('550 5.1.1 No such user')
  expect(formatReply({ code: 421, enhanced: null, text: 'a\0\x1b[31mb\u202ec\r\n' })).toBe('421 a[31mbc')
  expect(formatReply({ code: 250, enhanced: null, text: '' })).toBe('250')
  expect(formatReply({ code: 450, enhanced: null, text: 'x\n'.repeat(30_000) })).toBe(`450${' x'.repeat(998)} `)
})

function faultOf(action: () => unknown): ReplyFault | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof ReplyFault) return error
    throw error
  }
}
