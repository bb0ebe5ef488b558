import { describe, expect, test } from 'bun:test'
import { decodeCharset } from './charset.ts'
import { decodeWords } from './encoded-words.ts'

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
      expect(decodeCharset(latin1('\xfc'), charset)).toBeNull()
    },
  )

  test.each([
    'utf8mb4',
    'cp65001',
    'x-utf-8',
    '8bit',
    'unicode-2-0-utf-8',
    'utf-8-bom',
    'utf8_general_ci',
    '7bit',
    'text',
    'UTF8-MAC',
    '_iso-8859-1',
  ])('valid UTF-8 is read under the unknown name %s', (charset) => {
    expect(decodeCharset(latin1('Gr\xc3\xbc\xc3\x9fe'), charset)).toBe('Grüße')
    expect(decodeCharset(latin1('Gr\xfc\xdfe \xc3\xbc'), charset)).toBeNull()
    expect(decodeWords(`a =?${charset}?Q?Gr=C3=BC?= =?${charset}?B?w59l?=`)).toBe('a Grüße')
    expect(decodeWords(`a =?${charset}?Q?Gr=FC?= =?${charset}?Q?b?= c`)).toBe(
      `a =?${charset}?Q?Gr=FC?= =?${charset}?Q?b?= c`,
    )
  })
})
