import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { type Answer, AnswerReader, type Reading } from './answer-reader.ts'
import { ANSWER_LIMITS } from './limits.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

/** The pieces, and possibly the end of the connection → the result of the reader. */
function read(pieces: readonly Uint8Array[], { keepBytes = 4096, isClosed = true } = {}): Reading {
  const reader = new AnswerReader(keepBytes)
  for (const [at, piece] of pieces.entries()) {
    const reading = reader.push(piece)
    if (reading.kind === 'more') continue
    // Extra bytes in separate pieces decide whether the connection may be used again; here there are none.
    expect(pieces.length - at).toBeGreaterThan(0)
    return reading
  }
  return isClosed ? reader.end() : { kind: 'more' }
}
const readText = (text: string, options?: Parameters<typeof read>[1]) => read([bytes(text)], options)

function answerOf(text: string, options?: Parameters<typeof read>[1]): Answer {
  const reading = readText(text, options)
  if (reading.kind !== 'answer') throw new Error(JSON.stringify(reading))
  return reading.answer
}
const faultOf = (text: string) => {
  const reading = readText(text)
  return reading.kind === 'fault' ? reading.error : reading.kind
}

const VALID = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\ncontent-length:5\r\nRetry-After:  60  \r\n\r\nhello',
  'HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
  'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx',
  'HTTP/1.1 429 Zu viel \xfc\r\nContent-Length: 1\r\n\r\nx',
  'HTTP/1.0 200 OK\r\n\r\nuntil the end',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end\r\n\r\nHTTP/1.1 500 x',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5;a=b;c="d"\r\nhello\r\n00A\r\n0123456789\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n1\r\n\n\r\n0\r\nX: y\r\nZ: a\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Text: \xe4\xff "a, b"\r\nContent-Length: 0\r\n\r\n',
]

describe('a valid answer', () => {
  test.each(VALID)('%j is read as Node reads it, wherever it is split', async (text) => {
    const expected = await readByNode(bytes(text))
    const whole = answerOf(text)
    expect(whole.status).toBe(expected.status)
    expect(whole.body.toString('latin1')).toBe(expected.body)
    for (const [name, value] of Object.entries(expected.headers)) expect(whole.headers.get(name)).toBe(value)
    expect(whole.headers.size).toBe(Object.keys(expected.headers).length)

    for (let cut = 1; cut < text.length; cut++) {
      expect(read([bytes(text.slice(0, cut)), bytes(text.slice(cut))])).toEqual({ kind: 'answer', answer: whole })
    }
    expect(read([...text].map(bytes))).toEqual({ kind: 'answer', answer: whole })
  })

  test('says whether the connection may carry another request', () => {
    const length = 'Content-Length: 2\r\n'
    expect(answerOf(`HTTP/1.1 200 OK\r\n${length}\r\nok`).canReuse).toBe(true)
    expect(answerOf('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n').canReuse).toBe(true)
    expect(answerOf(`HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n${length}\r\nok`).canReuse).toBe(true)
    expect(answerOf(`HTTP/1.0 200 OK\r\n${length}\r\nok`).canReuse).toBe(false)
    expect(answerOf(`HTTP/1.1 200 OK\r\nConnection: x, close\r\n${length}\r\nok`).canReuse).toBe(false)
    expect(answerOf('HTTP/1.1 200 OK\r\n\r\nok').canReuse).toBe(false)
  })

  test('with more bytes behind it ends the connection: the next request would get them as its answer', () => {
    for (const more of ['HTTP/1.1 200 OK\r\n', '\r\n', 'x']) {
      expect(answerOf(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${more}`).canReuse).toBe(false)
      expect(answerOf(`HTTP/1.1 204 x\r\n\r\n${more}`).canReuse).toBe(false)
      const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'
      expect(answerOf(chunked + more).canReuse).toBe(false)
    }
  })

  test('is complete but truncated one byte beyond the limit', () => {
    const exact = answerOf('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd', { keepBytes: 4 })
    expect([exact.isWhole, exact.canReuse, exact.body.toString()]).toEqual([true, true, 'abcd'])
    const longer = answerOf('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde', { keepBytes: 4, isClosed: false })
    expect([longer.isWhole, longer.canReuse, longer.body.toString()]).toEqual([false, false, 'abcd'])
  })

  test('folded lines are one header', () => {
    const { headers } = answerOf('HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length: 0\r\n\r\n')
    expect(headers.get('x')).toBe('a b c')
  })

  test('may have headers named like properties of objects', () => {
    const { headers } = answerOf('HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nContent-Length: 0\r\n\r\n')
    expect([headers.get('__proto__'), headers.get('constructor'), headers.get('tostring')]).toEqual([
      'a',
      'b',
      undefined,
    ])
  })

  test.each([
    'Content-Length: 2\r\nContent-Length: 2',
    'Content-Length: 2, 2',
    'Content-Length: 2,2 , 2',
    'Content-Length: 2\r\nX: y\r\ncontent-length:  2',
    'Content-Length: 2, 2\r\nContent-Length: 2',
  ])('has one length in %j', (headers) => {
    const { body, canReuse } = answerOf(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\nok`)
    expect([body.toString(), canReuse]).toEqual(['ok', true])
  })

  test('with a content coding reports it', () => {
    expect(answerOf('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n').isCoded).toBe(true)
    expect(answerOf('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx').isCoded).toBe(true)
  })
})

describe('the limits of an answer', () => {
  const L = ANSWER_LIMITS
  const END = 'Content-Length: 0\r\n\r\n'
  /** A head of that many bytes, in lines of at most 8,000. */
  const headOf = (status: string, size: number, end: string) => {
    let text = `HTTP/1.1 ${status}\r\n`
    for (let left = size - text.length - end.length; left > 0; left = size - text.length - end.length) {
      const line = left > 8_100 ? 8_000 : left
      text += fieldOf(line)
    }
    return text + end
  }
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const fieldOf = (size: number) => `X: ${'a'.repeat(size - 5)}\r\n`
  const trailers = (lines: string) => `${chunked}0\r\n${lines}\r\n`

  test.each<[keyof typeof ANSWER_LIMITS, (most: number) => string]>([
    ['interimAnswers', (most) => `${'HTTP/1.1 100 x\r\n\r\n'.repeat(most)}HTTP/1.1 200 OK\r\n${END}`],
    ['headBytes', (most) => headOf('200 OK', most, END)],
    ['headBytes', (most) => headOf('100 x', 24_000, '\r\n').repeat(2) + headOf('200 OK', most - 48_000, END)],
    ['headBytes', (most) => headOf('200 OK', most, `X: ${'a'.repeat(64_000)}\r\n${END}`)],
    ['headBytes', (most) => `${chunked}0\r\n${fieldOf(most - chunked.length - 2)}\r\n`],
    ['headerLines', (most) => `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(most - 1)}${END}`],
    ['headerLines', (most) => trailers('X: y\r\n'.repeat(most))],
    ['chunkLineBytes', (most) => `${chunked}1;${'a'.repeat(most - 4)}\r\nx\r\n0\r\n\r\n`],
    ['chunks', (most) => `${chunked}${'1\r\nx\r\n'.repeat(most - 1)}0\r\n\r\n`],
  ])('are exact: %s', (name, make) => {
    const { most, phrase } = L[name]
    expect(readText(make(most), { keepBytes: 100_000 }).kind).toBe('answer')
    expect(readText(make(most + 1), { keepBytes: 100_000 })).toEqual({ kind: 'fault', error: phrase })
  })

  test('are exact: reads', () => {
    const pieces = (count: number) => [
      ...Array.from({ length: count - 1 }, () => bytes('')),
      bytes(`HTTP/1.1 200 OK\r\n${END}`),
    ]
    expect(read(pieces(L.reads.most)).kind).toBe('answer')
    expect(read(pieces(L.reads.most + 1))).toEqual({ kind: 'fault', error: L.reads.phrase })
  })

  test('count the head of each interim answer anew, and its lines', () => {
    const interim = `HTTP/1.1 103 x\r\n${'X: y\r\n'.repeat(L.headerLines.most)}\r\n`
    expect(readText(`${interim}${interim}HTTP/1.1 200 OK\r\n${END}`).kind).toBe('answer')
  })
})

describe('an invalid answer', () => {
  test.each([
    'SMTP',
    'HTTP/2 200 OK\r\n',
    'HTTP/1.1 20\r\n',
    'HTTP/1.1 2000 OK\r\n',
    'HTTP/1.1 099 x\r\n',
    'HTTP/1.1  200 OK\r\n',
    'http/1.1 200 OK\r\n',
    'HTTP/1.1 200 O\0K\r\n',
    '\r\nHTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nno colon\r\n',
    'HTTP/1.1 200 OK\r\n: empty\r\n',
    'HTTP/1.1 200 OK\r\nX : space\r\n',
    'HTTP/1.1 200 OK\r\nX: a\0b\r\n',
    'HTTP/1.1 200 OK\r\nX: a\rb\r\n',
    'HTTP/1.1 200 OK\r\n folded at first\r\n',
  ])('%j is not HTTP', (text) => {
    expect(faultOf(`${text}\r\n`)).toMatch(/^(response is not HTTP|connection closed)$/)
    expect(readText(`${text}\r\n`).kind).toBe('fault')
  })

  test.each([
    'Content-Length: 2\r\nContent-Length: 3',
    'Content-Length: 2, 3',
    'Content-Length: 2\r\nContent-Length: 02',
    'Content-Length: 2,',
    'Content-Length: 2\r\nContent-Length:',
    'Content-Length: -1',
    'Content-Length: +2',
    'Content-Length: 0x2',
    'Content-Length: 99999999999999999999',
    'Content-Length:',
    'Content-Length: 2\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 2',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: chunked, gzip',
  ])('%j does not define where the body ends', (headers) => {
    expect(faultOf(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n2\r\nok\r\n0\r\n\r\n`)).toBe(
      'response has conflicting lengths',
    )
  })

  test.each([
    'x\r\n',
    '-1\r\n',
    '\r\n',
    ' 1\r\n',
    '1 2\r\n',
    '0x1\r\n',
    'ffffffffffffffff\r\n',
    '1\r\nab\r\n',
    '1;\0\r\n',
  ])('chunks %j are malformed', (chunk) => {
    const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`
    expect(faultOf(text)).toBe('response chunks are malformed')
  })

  test('that ends too early is a closed connection', () => {
    for (const text of [
      '',
      'HTTP/1.1 200',
      'HTTP/1.1 200 OK\r\nX: y',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n',
    ]) {
      expect(faultOf(text)).toBe('connection closed')
    }
  })

  test('a switch of protocols is refused', () => {
    expect(faultOf('HTTP/1.1 101 x\r\n')).toBe('response switches protocols')
  })
})

describe('a flood ends at its limit', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const long = (text: string, size = 1_000_000) => text.repeat(Math.ceil(size / text.length))
  // threat: endless-interim-answers
  test.each([
    ['interim answers', long('HTTP/1.1 100 Continue\r\n\r\n'), ANSWER_LIMITS.interimAnswers.phrase],
    ['early hints', long('HTTP/1.1 103 x\r\nLink: <a>\r\n\r\n'), ANSWER_LIMITS.interimAnswers.phrase],
    [
      'large early hints',
      long(`HTTP/1.1 103 x\r\nLink: ${'a'.repeat(20_000)}\r\n\r\n`),
      ANSWER_LIMITS.headBytes.phrase,
    ],
    ['a status line', `HTTP/1.1 200 ${long('k')}`, ANSWER_LIMITS.headBytes.phrase],
    ['no line', long('\0'), ANSWER_LIMITS.headBytes.phrase],
    ['headers', `HTTP/1.1 200 OK\r\n${long('a: b\r\n')}`, ANSWER_LIMITS.headerLines.phrase],
    ['large headers', `HTTP/1.1 200 OK\r\n${long(`a: ${'b'.repeat(5000)}\r\n`)}`, ANSWER_LIMITS.headBytes.phrase],
    ['folded lines', `HTTP/1.1 200 OK\r\na: b\r\n${long(' c\r\n')}`, ANSWER_LIMITS.headerLines.phrase],
    ['a header', `HTTP/1.1 200 OK\r\nX: ${long('y')}`, ANSWER_LIMITS.headBytes.phrase],
    ['a chunk size', chunked + long('0'), ANSWER_LIMITS.chunkLineBytes.phrase],
    ['a chunk extension', `${chunked}1;${long('e')}`, ANSWER_LIMITS.chunkLineBytes.phrase],
    ['trailers', `${chunked}0\r\n${long('a: b\r\n')}`, ANSWER_LIMITS.headerLines.phrase],
    ['large trailers', `${chunked}0\r\n${long(`a: ${'b'.repeat(5000)}\r\n`)}`, ANSWER_LIMITS.headBytes.phrase],
  ])('%s', (_, text, phrase) => {
    expect(faultOf(text)).toBe(phrase)
    // In packets as they arrive, as small as possible: at most the limit and one packet are read.
    for (const size of [1400, 1]) {
      const reader = new AnswerReader(4096)
      let given = 0
      let reading: Reading = { kind: 'more' }
      while (reading.kind === 'more') {
        reading = reader.push(bytes(text.slice(given, given + size)))
        given += size
      }
      expect(given).toBeLessThan(ANSWER_LIMITS.headBytes.most + 2 * 8192)
    }
  })

  test('a file may have as many chunks as its bytes allow, so that tiny ones end early', () => {
    const rowsOf = (sizeBytes: number, count: number) =>
      Buffer.from(`${chunked}${`${sizeBytes.toString(16)}\r\n${'x'.repeat(sizeBytes)}\r\n`.repeat(count)}0\r\n\r\n`)
    const kindOf = (bytes: Buffer) => new AnswerReader(25 * 2 ** 20, () => 'read').push(bytes).kind
    expect(kindOf(rowsOf(128, 20_000))).toBe('answer')
    expect(kindOf(rowsOf(1, 8_000))).toBe('answer')
    expect(kindOf(rowsOf(1, 9_000))).toBe('fault')
  })

  test('chunks of one byte end when the body is full or there are too many', () => {
    const flood = bytes(chunked + long('1\r\nx\r\n'))
    const small = read([flood], { isClosed: false })
    expect(small).toMatchObject({ kind: 'answer', answer: { isWhole: false } })
    expect(read([flood], { keepBytes: 1_000_000 })).toEqual({ kind: 'fault', error: 'response has too many chunks' })
  })

  test('an answer in thousands of one-byte pieces is abandoned', () => {
    const reader = new AnswerReader(1_000_000)
    reader.push(bytes('HTTP/1.1 200 OK\r\n\r\n'))
    let pieces = 0
    let reading: Reading = { kind: 'more' }
    while (reading.kind === 'more') {
      reading = reader.push(bytes('x'))
      pieces++
    }
    expect(reading).toEqual({ kind: 'fault', error: 'response arrives in too many pieces' })
    expect(pieces).toBe(ANSWER_LIMITS.reads.most)
  })

  test('a body of 16 MB in 2,000 pieces is not copied with each of them', async () => {
    const piece = bytes('x'.repeat(8_000))
    // Usually 5 ms. Copying it with each piece takes 10 s.
    await expectCostUnder(500, () => {
      const reader = new AnswerReader(32_000_000)
      reader.push(bytes('HTTP/1.1 200 OK\r\n\r\n'))
      for (let at = 0; at < 2_000; at++) reader.push(piece)
      expect(reader.end()).toMatchObject({ kind: 'answer', answer: { isWhole: true } })
    })
  })
})

/** The same bytes from a server → the result of Node's client. */
async function readByNode(answer: Buffer): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as net.AddressInfo
    const request = http.request({ host: '127.0.0.1', port, agent: false }).end()
    const [incoming] = (await once(request, 'response')) as [http.IncomingMessage]
    let body = ''
    incoming.setEncoding('latin1')
    for await (const piece of incoming) body += piece
    return { status: incoming.statusCode!, headers: incoming.headers as Record<string, string>, body }
  } finally {
    server.close()
  }
}
