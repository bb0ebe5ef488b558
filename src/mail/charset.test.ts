import { describe, expect, test } from 'bun:test'
import { decodeCharset } from './charset.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

describe('bytes in a charset', () => {
  test.each([
    ['', 'Gr\xfc\xdfe', 'Grüße'],
    ['us-ascii', 'Gr\xc3\xbc\xc3\x9fe', 'Grüße'],
    ['"utf-8"', '\xef\xbb\xbf\xc3\xbc', 'ü'],
    ['utf-16', '\xfe\xff\0\xfc', 'ü'],
    ['utf-16', '\xff\xfe\xfc\0', 'ü'],
    ['utf-7', 'Gr+APwA3w-e +- 1 + 1', 'Grüße + 1 + 1'],
    ['unicode-1-1-utf-7', '+2D3eAA', '😀'],
    ['utf-7', '+2D0- cut', '\ufffd cut'],
    ['iso-2022-jp', '\x1b$B%F\x1b(B\x1b$B%9%H\x1b(B', 'テスト'],
    ['ISO-2022-KR', '\x1b$)C\x0e;g6w\x0f ok', '사람 ok'],
    ['hz-gb-2312', '~{VPND~} ~~ ok~\n!', '中文 ~ ok!'],
    ['cp949', '\xbb\xe7\xb6\xf7', '사람'],
    ['cp932', '\x83e\x83X', 'テス'],
    ['cp850', '\x81', 'ü'],
    ['IBM437', '\x84', 'ä'],
    ['x-mac-roman', '\x8a', 'ä'],
  ])('%j %j', (charset, bytes, text) => {
    expect(decodeCharset(latin1(bytes), charset)).toBe(text)
  })

  test.each(['x-none', 'base64', 'hex', 'binary', 'ucs2-none', 'cp0', '__proto__'])(
    '%s is not supported',
    (charset) => {
      expect(decodeCharset(latin1('a'), charset)).toBeNull()
    },
  )
})
