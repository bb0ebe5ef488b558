import { describe, expect, test } from 'bun:test'
import { decodeCharset } from './charset.ts'
import { decodeWords, parameterOf, readHeaderFields } from './header-fields.ts'

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
    ['latin9', '\xa4', '€'],
    ['koi8r', '\xd0', 'п'],
    ['win-1251', '\xcf', 'П'],
    ['euc_jp', '\xc6\xfc', '日'],
    ['x-user-defined', '\xc3\xbc', 'ü'],
    ['x-user-defined', '\xfc', 'ü'],
    ['utf-16', '\xc3\xbc b\n', 'ü b\n'],
    ['Unicode', 'in plain\r\n', 'in plain\r\n'],
    ['utf-16le', '\xfc\0\n\0', 'ü\n'],
    ['utf-16le', '\x0a\x4e\x77\x6d', '上海'],
    ['utf-16le', '\x0a\x4e\x20\x9f', '上鼠'],
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
  ])('valid UTF-8 is read under the unknown name %s', (charset) => {
    expect(decodeCharset(latin1('Gr\xc3\xbc\xc3\x9fe'), charset)).toBe('Grüße')
    expect(decodeCharset(latin1('Gr\xfc\xdfe \xc3\xbc'), charset)).toBeNull()
    expect(decodeWords(`a =?${charset}?Q?Gr=C3=BC?= =?${charset}?B?w59l?=`)).toBe('a Grüße')
    expect(decodeWords(`a =?${charset}?Q?Gr=FC?= =?${charset}?Q?b?= c`)).toBe(
      `a =?${charset}?Q?Gr=FC?= =?${charset}?Q?b?= c`,
    )
  })
})

describe('a misspelt charset name', () => {
  test.each([
    ['windows1252', 'Gr\xfc\xdfe \x80', 'Grüße €'],
    ['windows-1252;', '\x80', '€'],
    ['windows-1252http-equiv', '\x80', '€'],
    ['_iso-8859-1', 'Gr\xfc\xdfe', 'Grüße'],
    ['iso 8859-15', '\xa4', '€'],
    ['8859-1', '\xfc', 'ü'],
    ['de_DE.ISO-8859-1', '\xfc', 'ü'],
    ['iso-latin-1', '\xfc', 'ü'],
    ['us_ascii', '\xfc', 'ü'],
    ['x-user-defined', '\xfc', 'ü'],
    ['win1251', '\xcf\xf0\xe8', 'При'],
    ['koi8r', '\xf0\xd2\xc9', 'При'],
    ['gb-2312', '\xd6\xd0', '中'],
    ['gb2312-80', '\xd6\xd0', '中'],
    ['big-5', '\xa4\xa4', '中'],
    ['tis620', '\xa1', 'ก'],
    ['windows-932', '\x83e', 'テ'],
    ['euc_kr', '\xbb\xe7', '사'],
    ['cp51949', '\xbb\xe7', '사'],
    ['cp50221', '\x1b$B%F\x1b(B', 'テ'],
  ])('%s is read by what it means, unless the text is UTF-8', (charset, bytes, text) => {
    expect(decodeCharset(latin1(bytes), charset)).toBe(text)
    if (charset.includes(' ')) return
    expect(decodeWords(`=?${charset}?B?${latin1(bytes).toString('base64')}?=`)).toBe(text)
    if (bytes.startsWith('\x1b')) return
    expect(decodeCharset(Buffer.from(`${text} 日本語`), charset)).toBe(`${text} 日本語`)
  })

  test.each(['utf-16', 'unicode', 'ucs-2', 'utf-32', 'utf16'])('%s is UTF-8 where a text has no NUL', (charset) => {
    expect(decodeCharset(Buffer.from('Grüße aus München'), charset)).toBe('Grüße aus München')
  })

  test('utf-16 keeps its meaning where it is right, also without a letter of ASCII', () => {
    expect(decodeCharset(Buffer.from('汉字', 'utf16le'), 'utf-16')).toBe('汉字')
    expect(decodeCharset(Buffer.from('Grüße aus München', 'utf16le'), 'unicode')).toBe('Grüße aus München')
    expect(decodeCharset(Buffer.from('日本語のメールです。', 'utf16le'), 'ucs-2')).toBe('日本語のメールです。')
  })
})

describe('UTF-8 that was cut inside a character', () => {
  /** The bytes of the text without those from `from` to `to`, as latin1. */
  const cut = (text: string, from: number, to?: number) => {
    const bytes = [...Buffer.from(text)]
    bytes.splice(from, (to ?? bytes.length) - from)
    return String.fromCharCode(...bytes)
  }
  const field = (value: string) => readHeaderFields(latin1(`A: ${value}\r\n`)).fields[0]!.value
  const nameIn = (value: string) => parameterOf(field(`attachment; ${value}`), 'filename')

  test.each([
    [cut('日本語', -1), '日本\ufffd'],
    [cut('日本語', -2), '日本\ufffd'],
    [`${cut('日本', -1)}.pdf`, '日\ufffd.pdf'],
    [`${cut('Übersichtü', -1)}.txt`, 'Übersicht\ufffd.txt'],
    [cut('Отчет.pdf', 0, 1), '\ufffdтчет.pdf'],
    [cut('a 🎉🎉', -2), 'a 🎉\ufffd'],
    [cut('ä ö ü ß 日', 4, 5), 'ä \ufffd ü ß 日'],
  ])('keeps its other characters: %j', (bytes, text) => {
    expect(decodeCharset(latin1(bytes), '')).toBe(text)
    expect(decodeCharset(latin1(bytes), 'us-ascii')).toBe(text)
    expect(decodeCharset(latin1(bytes), 'utf8mb4')).toBe(text)
    expect(field(bytes)).toBe(text)
    expect(nameIn(`filename="${bytes}"`)).toBe(text)
    const hex = [...latin1(bytes)].map((byte) => byte.toString(16).padStart(2, '0'))
    for (const charset of ['', 'utf-8', 'us-ascii', 'utf8mb4']) {
      expect(nameIn(`filename*=${charset}''%${hex.join('%')}`)).toBe(text)
      if (charset === '') continue
      expect(decodeWords(`=?${charset}?Q?=${hex.join('=')}?=`)).toBe(text)
      expect(decodeWords(`=?${charset}?B?${latin1(bytes).toString('base64')}?=`)).toBe(text)
    }
  })

  test.each([
    ['Spa\xdf\x93 f\xfcr', 'Spaß“ für'],
    ['\x84Spa\xdf\x93', '„Spaß“'],
    ['S\xc3O', 'SÃO'],
    ['Angebot 5\x80', 'Angebot 5€'],
    ['caf\xe9', 'café'],
  ])('is not seen in windows-1252: %j', (bytes, text) => {
    expect(decodeCharset(latin1(bytes), '')).toBe(text)
    expect(nameIn(`filename="${bytes}.pdf"`)).toBe(`${text}.pdf`)
  })

  test.each([
    ["filename*=UTF-8''%E6%97%A5%E6%9", '日\ufffd'],
    ["filename*=UTF-8''%E6%97%A5%", '日'],
    ["filename*=UTF-8''100%", '100%'],
    ["filename*0*=UTF-8''%E6; filename*1*=%97%A5.pdf", '日.pdf'],
    ["filename*0*=UTF-8''%E6%9; filename*1*=7%A5.pdf", '日.pdf'],
    ["filename*0*=UTF-8''%E6%97%A5; filename*1=100%25.pdf", '日100%25.pdf'],
    ['filename="=?UTF-8?B?5pel5pys6K"', '日本\ufffd'],
    ['filename="a =?UTF-8?Q?M=C3=BCnchen?"', 'a München'],
    ['filename*0="=?UTF-8?B?5pel"; filename*1="5pys"', '日本'],
    ['filename="=?UTF-8?B?"', '=?UTF-8?B?'],
    ['filename="what =?x? is"', 'what =?x? is'],
  ])('keeps the readable part of %s', (value, name) => {
    expect(nameIn(value)).toBe(name)
  })
})
