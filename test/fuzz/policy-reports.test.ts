import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { AGGREGATE_LIMITS } from '../../src/mail/aggregate-report.ts'
import { type PolicyReport, readPolicyReport } from '../../src/mail/policy-report.ts'
import { unpackReport } from '../../src/mail/unpack-report.ts'
import { readXml } from '../../src/mail/xml.ts'
import { aggregateXml, mailWith, tlsJson, zipOf } from '../support/policy-reports.ts'
import { runs } from './runs.ts'

const rows = [
  { ip: '192.0.2.1', count: 3 },
  { ip: '2001:db8::1', spf: 'fail' },
]
const XML = aggregateXml({ rows })
const CONTENTS = [
  Buffer.from(XML),
  Buffer.from(tlsJson('example.com')),
  gzipSync(XML),
  zipOf([{ name: 'a.xml', content: XML }]),
  zipOf([{ name: 'a.xml.gz', content: gzipSync(XML) }]),
]
const PIECES = [
  '<',
  '>',
  '/>',
  '</feedback>',
  '<record>',
  '<!--',
  '<![CDATA[',
  ']]>',
  '&#x0;',
  '&lt;',
  '"',
  '\0',
  '{',
  ']',
]

/** Content with bytes inserted, removed and replaced. */
const damaged = fc
  .tuple(
    fc.constantFrom(...CONTENTS),
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(30),
        put: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })),
      }),
      { maxLength: 5 },
    ),
  )
  .map(([content, edits]) => {
    let bytes = Buffer.from(content)
    for (const { at, length, put } of edits) {
      const from = Math.floor(at * bytes.length)
      bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(put, 'latin1'), bytes.subarray(from + length)])
    }
    return bytes
  })

function requireSound(found: PolicyReport): void {
  if (found.kind === 'damaged') expect(found.why).toMatch(/^[ -~]{1,200}$/)
  if (found.kind === 'tls') {
    for (const { successful, failed, failures } of found.report.policies) {
      for (const count of [successful, failed, ...failures.map(({ sessions }) => sessions)]) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
    }
  }
  if (found.kind !== 'dmarc') return
  const { sources, domain, beginsAt, endsAt } = found.report
  expect(domain).toMatch(/^[\w.-]{1,253}$/)
  expect(endsAt).toBeGreaterThanOrEqual(beginsAt)
  expect(sources.length).toBeLessThanOrEqual(AGGREGATE_LIMITS.sources + 1)
  for (const { sourceIp, messages, passed, spfAligned, dkimAligned, quarantined, rejected } of sources) {
    expect(sourceIp).toMatch(/^[\da-f.:]+$/)
    expect(Math.max(passed, spfAligned, dkimAligned, quarantined + rejected)).toBeLessThanOrEqual(messages)
    expect(passed).toBeGreaterThanOrEqual(Math.max(spfAligned, dkimAligned))
  }
}

test('damaged reports are read within their bounds or called damaged', () => {
  const run = fc.property(damaged, (content) => requireSound(readPolicyReport(mailWith(content))))
  fc.assert(run, runs({ target: 'policy-reports', property: 'damaged' }, 1_500, 71))
})

test('any bytes in place of a mail are read without an error', () => {
  const run = fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isGzip) => {
    const head = isGzip ? [0x1f, 0x8b, 8] : [0x50, 0x4b, 3, 4]
    requireSound(readPolicyReport(Buffer.from([13, 10, ...head, ...bytes])))
    requireSound(readPolicyReport(bytes))
  })
  fc.assert(run, runs({ target: 'policy-reports', property: 'bytes' }, 1_500, 72))
})

test('containers give back what was packed, in any order of layers', () => {
  const layers = fc.array(fc.constantFrom('gzip', 'zip', 'stored', 'base64'), { maxLength: 3 })
  const run = fc.property(layers, fc.string({ maxLength: 200 }), (names, text) => {
    // Base64 is recognized only around a container.
    let content = Buffer.from(`<${text}`)
    for (const [at, name] of names.entries()) {
      if (name === 'gzip') content = gzipSync(content)
      else if (name === 'base64') {
        const isContainer = at > 0 && names[at - 1] !== 'base64'
        content = isContainer ? Buffer.from(content.toString('base64')) : content
      } else content = zipOf([{ name: 'a', content, method: name === 'zip' ? 8 : 0 }])
    }
    expect(Buffer.from(unpackReport(content)).toString()).toBe(`<${text}`)
  })
  fc.assert(run, runs({ target: 'policy-reports', property: 'containers' }, 300, 73))
})

test('every element that closes was opened, innermost first', () => {
  const text = fc.array(fc.oneof(fc.constantFrom(...PIECES, '<a>', '</a>', '<b c="d">'), fc.string({ maxLength: 4 })))
  const run = fc.property(text, (pieces) => {
    const open: string[] = []
    try {
      readXml(pieces.join(''), {
        open: (name) => open.push(name),
        close: (name) => expect(open.pop()).toBe(name),
      })
    } catch (error) {
      expect((error as Error).message).toMatch(/^the XML /)
    }
  })
  fc.assert(run, runs({ target: 'policy-reports', property: 'xml' }, 1_500, 74))
})
