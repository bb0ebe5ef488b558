import { analyze } from '../../src/analysis/analyze.ts'
import { type Figure, median } from './figures.ts'
import type { Part } from './part.ts'

const BYTES = 100_000
const RUNS = 11
const ROW =
  '<tr><td style="padding:8px;color:#333333;font:14px/20px Arial" class="cell"><a href="https://shop.example.org/a?b=1&amp;c=2" style="color:#06c">Tea &amp; cake</a> <img src="https://shop.example.org/i.png" alt="Cake" width="20" height="20"> for two</td></tr>\n'

/** The analysis of a mail of 100 kB, on one thread. */
export const analysis: Part = {
  name: 'analysis',
  beside: async ({ note }) => {
    const rows = ROW.repeat(Math.ceil(BYTES / ROW.length))
    const mail = {
      from: { name: 'Tea', local: 'a', domain: 'example.org' },
      replyTo: [],
      subject: 'Tea',
      html: `<!doctype html><html><body><table>${rows}</table></body></html>`,
      text: null,
      headers: [],
      attachments: [],
      domain: { status: 'verified' as const, findings: [] },
      hasUnsubscribe: false,
      sizeBytes: BYTES,
    }
    const timesMs = Array.from({ length: RUNS }, () => {
      const startedAt = performance.now()
      analyze(mail)
      return performance.now() - startedAt
    })
    note(null, TOOK, median(timesMs))
  },
}

const TOOK: Figure = { what: 'analysis of a mail of 100 kB, median', unit: 'ms', goal: { atMost: 50 } }
