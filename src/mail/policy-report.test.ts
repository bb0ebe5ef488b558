import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { aggregateXml, mailWith, recordXml, tlsJson, zipOf } from '../../test/support/policy-reports.ts'
import { AGGREGATE_LIMITS } from './aggregate-report.ts'
import { type PolicyReport, readPolicyReport } from './policy-report.ts'
import { readXml } from './xml.ts'

const XML = aggregateXml()
const read = (content: Uint8Array | string, more = {}) => readPolicyReport(mailWith(content, more))

function dmarcOf(found: PolicyReport) {
  if (found.kind !== 'dmarc') throw new Error(`${found.kind}: ${found.kind === 'damaged' ? found.why : ''}`)
  return found.report
}

function whyOf(found: PolicyReport): string {
  return found.kind === 'damaged' ? found.why : found.kind
}

describe('containers', () => {
  const CONTAINERS: [name: string, content: Uint8Array | string][] = [
    ['plain XML', XML],
    ['XML behind a byte order mark', `\ufeff${XML}`],
    ['UTF-16', Buffer.from(`\ufeff${XML}`, 'utf16le')],
    ['gzip', gzipSync(XML)],
    ['gzip with bytes behind its end', Buffer.concat([gzipSync(XML), Buffer.from('\r\n-- \r\nfooter')])],
    ['zip', zipOf([{ name: 'a.xml', content: XML }])],
    ['zip without compression', zipOf([{ name: 'a.xml', content: XML, method: 0 }])],
    [
      'zip with folders',
      zipOf([
        { name: 'reports/', content: '' },
        { name: '__MACOSX/a.xml', content: 'x' },
        { name: 'reports/.DS_Store', content: 'x' },
        { name: 'Thumbs.db', content: 'x' },
        { name: 'a.xml', content: XML },
      ]),
    ],
    ['gzip in a zip', zipOf([{ name: 'a.xml.gz', content: gzipSync(XML) }])],
    ['gzip in base64 twice', gzipSync(XML).toString('base64')],
    ['zip in base64 twice behind blanks', `\r\n ${zipOf([{ name: 'a.xml', content: XML }]).toString('base64')}`],
  ]
  for (const [name, content] of CONTAINERS) {
    test(`reads ${name}, whatever type and name say`, () => {
      for (const said of [{}, { type: 'text/plain', name: 'image.png' }, { type: 'application/zip', name: '' }]) {
        expect(dmarcOf(read(content, said)).sources).toHaveLength(1)
      }
    })
  }

  test('reads a mail that is nothing but the attachment', () => {
    const mail = `Content-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n${gzipSync(XML).toString('base64')}`
    expect(dmarcOf(readPolicyReport(Buffer.from(mail))).domain).toBe('example.com')
  })

  test('finds no report in other mail', () => {
    for (const content of ['Hello', '<p>Hello</p>', '{"a": 1}', '', '\x1f']) expect(read(content).kind).toBe('none')
  })

  test('reads a report that packs to less than a hundredth', () => {
    const wide = XML.replace('</feedback>', `${' '.repeat(2_000_000)}</feedback>`)
    const ended = `${XML}${'\n'.repeat(2_000_000)}`
    const packed = [
      gzipSync(wide),
      gzipSync(ended),
      zipOf([{ name: 'a.xml', content: wide }]),
      zipOf([{ name: 'a.xml.gz', content: gzipSync(wide) }]),
      gzipSync(gzipSync(ended)),
      Buffer.from(gzipSync(wide).toString('base64')),
    ]
    for (const content of packed) {
      expect(content.byteLength).toBeLessThan(20_000)
      expect(dmarcOf(read(content)).sources).toHaveLength(1)
    }
  })

  // threat: report-bombs
  test('refuses bombs and what is no single file', () => {
    const big = Buffer.alloc(11_000_000, 'ab<c> defgh')
    const nested = gzipSync(gzipSync(gzipSync(gzipSync(XML))))
    const files = (count: number) => zipOf(Array.from({ length: count }, () => ({ name: 'a.xml', content: XML })))
    const refused: [content: Uint8Array, why: RegExp][] = [
      [gzipSync(big), /more than 10 MB$/],
      [zipOf([{ name: 'a.xml', content: big }]), /more than 10 MB$/],
      [zipOf([{ name: 'a.xml', content: big.subarray(0, 10_100_000), method: 0 }]), /more than 10 MB$/],
      [gzipSync(Buffer.alloc(10_000_001, 0)), /more than 10 MB$/],
      [zipOf([{ name: 'b.zip', content: zipOf([{ name: 'a.xml', content: Buffer.alloc(10_000_001) }]) }]), /10 MB$/],
      [nested, /three layers/],
      [files(2), /2 files/],
      [files(30), /30 entries/],
      [zipOf([{ name: 'folder/', content: '' }]), /0 files/],
      [zipOf([{ name: 'a.xml', content: XML, flags: 1 }]), /encrypted/],
      [zipOf([{ name: 'a.xml', content: XML, method: 12 }]), /method 12/],
    ]
    for (const [content, why] of refused) expect(whyOf(read(content))).toMatch(why)
  })

  // threat: report-bombs
  test('reads only the first member of a gzip, however many follow', () => {
    const bomb = gzipSync(Buffer.alloc(40_000_000))
    expect(dmarcOf(read(Buffer.concat([gzipSync(XML), bomb, bomb]))).sources).toHaveLength(1)
    const half = Math.floor(XML.length / 2)
    const split = Buffer.concat([gzipSync(XML.slice(0, half)), gzipSync(XML.slice(half))])
    expect(read(split).kind).toBe('damaged')
  })

  // threat: report-bombs
  test('looks at no further part after three that cannot be read', () => {
    const [head, ...rest] = mailWith(gzipSync(XML))
      .toString('latin1')
      .split(/(?=--b\r\nContent-Type: application)/)
    const bomb = mailWith(gzipSync(Buffer.alloc(5_000_000)))
      .toString('latin1')
      .split(/(?=--b\r\nContent-Type: application)/)[1]!
    const behind = (bombs: number) =>
      readPolicyReport(Buffer.from(`${head}${bomb.replace('--b--\r\n', '').repeat(bombs)}${rest.join('')}`, 'latin1'))
    expect([behind(2).kind, behind(3).kind]).toEqual(['dmarc', 'damaged'])
  })

  // threat: report-bombs
  test('refuses a zip whose directory lies', () => {
    const zip = zipOf([{ name: 'a.xml', content: XML }])
    const at = zip.lastIndexOf('PK\x05\x06')
    const changed = (change: (bytes: Buffer) => unknown) => {
      const copy = Buffer.from(zip)
      change(copy)
      return whyOf(read(copy))
    }
    expect(changed((bytes) => bytes.writeUInt16LE(20, at + 10))).toContain('directory of the zip is damaged')
    expect(changed((bytes) => bytes.writeUInt16LE(0xffff, at + 10))).toContain('65535 entries')
    expect(changed((bytes) => bytes.writeUInt32LE(0xffffffff, at + 16))).toContain('directory of the zip is damaged')
    expect(changed((bytes) => bytes.writeUInt32LE(7, bytes.readUInt32LE(at + 16) + 42))).toContain('no entry where')
    expect(changed((bytes) => bytes.writeUInt32LE(0xfffffff0, bytes.readUInt32LE(at + 16) + 20))).toContain('truncated')
  })

  test('refuses every truncated container, and never throws', () => {
    for (const whole of [gzipSync(XML), zipOf([{ name: 'a.xml', content: XML }])]) {
      // The last eight bytes of gzip are checksum and size, which do not count.
      for (let length = 4; length < whole.length - 8; length += 3) {
        expect(read(whole.subarray(0, length)).kind, String(length)).toBe('damaged')
      }
    }
  })
})

describe('aggregate reports', () => {
  test('give sums by source, with alignment and disposition', () => {
    const rows = [
      { ip: '192.0.2.1', count: 5 },
      { ip: '2001:DB8:0:0::1', count: 2, spf: 'Fail', dkim: 'PASS' },
      { ip: '192.0.2.1', count: 3, spf: 'fail', dkim: 'fail', disposition: 'Reject' },
      { ip: '192.0.2.9', count: 1, spf: 'fail', dkim: 'fail', disposition: 'quarantine' },
      { ip: 'localhost', count: 70 },
      { ip: '192.0.2.300', count: 70 },
      { ip: '192.0.2.8', count: -4 },
    ]
    expect(dmarcOf(read(aggregateXml({ rows, policy: 'Quarantine', domain: 'Example.COM.' })))).toEqual({
      organization: 'Reporter',
      reportId: 'r-1',
      beginsAt: 1_700_000_000_000,
      endsAt: 1_700_086_399_000,
      domain: 'example.com',
      policy: 'quarantine',
      sources: [
        { sourceIp: '192.0.2.1', messages: 8, spfAligned: 5, dkimAligned: 5, passed: 5, quarantined: 0, rejected: 3 },
        { sourceIp: '2001:db8::1', messages: 2, spfAligned: 0, dkimAligned: 2, passed: 2, quarantined: 0, rejected: 0 },
        { sourceIp: '192.0.2.9', messages: 1, spfAligned: 0, dkimAligned: 0, passed: 0, quarantined: 1, rejected: 0 },
      ],
    })
  })

  test('may have namespaces, comments, CDATA, attributes and character references', () => {
    const xml = XML.replaceAll('<row>', '<!-- <record> --><row a="1>2" b=\'<\'>')
      .replace('<org_name>Reporter', '<org_name><![CDATA[A <b> &amp;]]> &amp; &#66;&#x43;&unknown;')
      .replaceAll(/<(\/?)(feedback|record)/g, '<$1ns:$2')
    expect(dmarcOf(read(xml))).toMatchObject({ organization: 'A <b> &amp; & BC&unknown;', sources: [{ messages: 1 }] })
  })

  test('are shown without control characters and cut', () => {
    const report = dmarcOf(read(aggregateXml({ organization: `a\u202eb\u0007${'c'.repeat(900)}` })))
    expect(report.organization).toBe(`ab${'c'.repeat(198)}`)
  })

  // threat: report-entities
  test('with a document type or entities of their own are refused', () => {
    const laughs = Array.from({ length: 10 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')
    const documents = [
      `<!DOCTYPE feedback [<!ENTITY l0 "lol">${laughs}]>`,
      '<!DOCTYPE feedback SYSTEM "file:///etc/passwd">',
      '<!DOCTYPE feedback [<!ENTITY x SYSTEM "http://127.0.0.1/">]>',
      '<!ENTITY x "y">',
    ]
    for (const document of documents) {
      const xml = XML.replace('?>\n', `?>\n${document}`).replace('Reporter', '&l10;&x;')
      expect(whyOf(read(xml))).toContain('document type')
    }
  })

  // threat: report-bombs
  test('with too many records or too deep elements are refused', () => {
    const of = (count: number) =>
      XML.replace(
        '</feedback>',
        `${Array.from({ length: count }, (_, at) => recordXml({ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` })).join('')}</feedback>`,
      )
    expect(whyOf(read(of(20_000)))).toContain('more than 20000 records')
    expect(whyOf(read(XML.replace('<row>', `${'<a>'.repeat(40)}<row>`)))).toContain('nested too deeply')
  })

  test('keep the largest sources one by one and the sum of the others', () => {
    const rows = Array.from({ length: 700 }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}`, count: at + 1 }))
    const { sources } = dmarcOf(read(aggregateXml({ rows })))
    expect(sources).toHaveLength(AGGREGATE_LIMITS.sources + 1)
    expect(sources[0]).toMatchObject({ sourceIp: '10.0.2.187', messages: 700 })
    expect(sources.at(-1)).toMatchObject({ sourceIp: '', messages: (400 * 401) / 2, passed: (400 * 401) / 2 })
    expect(sources.reduce((sum, { messages }) => sum + messages, 0)).toBe((700 * 701) / 2)
  })

  test('that end early or lack domain or period are damaged', () => {
    for (let length = 100; length < XML.length - 12; length += 7) {
      expect(read(XML.slice(0, length)).kind, String(length)).toBe('damaged')
    }
    expect(whyOf(read(XML.replace('<domain>example.com</domain>', '')))).toContain('no domain')
    expect(whyOf(read(XML.replace('<begin>', '<began>').replace('</begin>', '</began>')))).toContain('no valid period')
    expect(whyOf(read(aggregateXml({ begin: 20, end: 10 })))).toContain('no valid period')
    expect(whyOf(read(XML.replace('</row>', '</wor>')))).toContain('not open')
  })

  test('count only from their own places', () => {
    const forged = XML.replace('<auth_results/>', '<auth_results><row><count>900</count></row></auth_results>')
    expect(dmarcOf(read(forged)).sources).toMatchObject([{ messages: 1 }])
  })
})

describe('TLS reports', () => {
  test('give sessions and failures by policy', () => {
    expect(read(gzipSync(tlsJson('Example.com')))).toEqual({
      kind: 'tls',
      report: {
        organization: 'Reporter',
        reportId: 't-1',
        beginsAt: 1_700_000_000_000,
        endsAt: 1_700_086_399_000,
        policies: [
          {
            domain: 'example.com',
            type: 'sts',
            successful: 40,
            failed: 3,
            failures: [
              { result: 'certificate-expired', host: 'mx.example.com', sessions: 2 },
              { result: 'validation-failure', host: '', sessions: 1 },
            ],
          },
        ],
      },
    })
  })

  test('with values of other types lose those values', () => {
    const json = tlsJson('example.com')
    const odd = json
      .replace('"total-successful-session-count":40', '"total-successful-session-count":"40"')
      .replace('"organization-name":"Reporter"', '"organization-name":{"a":[]}')
    expect(read(odd)).toMatchObject({ report: { organization: '', policies: [{ successful: 0, failed: 3 }] } })
  })

  test('are damaged if truncated, without a period, or with too many policies', () => {
    const json = tlsJson('example.com')
    for (let length = 40; length < json.length; length += 11) expect(read(json.slice(0, length)).kind).toBe('damaged')
    expect(read(json.replace('2023-11-14', 'yesterday')).kind).toBe('damaged')
    const many = { ...JSON.parse(json), policies: Array.from({ length: 21 }, () => ({})) }
    expect(read(JSON.stringify(many)).kind).toBe('damaged')
    expect(read(`{"policies":${'['.repeat(500_000)}`).kind).toBe('damaged')
  })
})

test('XML that never ends is refused, whatever it ends in', () => {
  for (const end of ['<', '<a', '<a b="', '<!', '<!--', '<![CDATA[', '<?', '</', '</a', '<a>b</b>', '< a>', '<1 =']) {
    const events: string[] = []
    expect(() => readXml(`<a>${end}`, { open: (name) => events.push(name), close: () => {} }), end).toThrow()
  }
})
