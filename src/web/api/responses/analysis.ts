import { z } from 'zod'
import { keysOf } from '../../../os/records.ts'
import { CATEGORIES, FINDING_KINDS } from '../../../sending/analysis/codes.ts'
import type { ResponseShape } from '../operation.ts'
import { count } from './fields.ts'

/** Response of `/v1/messages/analyze`, and the table of finding codes. */

const CODES = keysOf(FINDING_KINDS)
const LINK_CODES = CODES.filter((code) => code.startsWith('link_'))
const text = z.string().nullable()

const analysis = z
  .strictObject({
    score: z.number().min(0).max(100),
    verdict: z.enum(['good', 'warning', 'bad']),
    issues: z.array(
      z.strictObject({
        code: z.enum(CODES),
        severity: z.enum(['error', 'warning', 'info']),
        category: z.enum(keysOf(CATEGORIES)),
        message: z.string().describe('What is wrong and how to fix it.'),
        field: z.string(),
        penalty: z.number(),
      }),
    ),
    stats: z.strictObject({
      size_bytes: count,
      subject_characters: count,
      html_bytes: count,
      text_bytes: count,
      words: count,
      links: count,
      images: count,
      remote_images: count,
      attachments: count,
      image_text_ratio: z.number().describe('Share of the image and text area taken by images, 0 to 1.'),
    }),
    links: z.array(z.strictObject({ url: z.string(), text: z.string(), problems: z.array(z.enum(LINK_CODES)) })),
    rendered: z.strictObject({ subject: text, html: text, text }),
  })
  .meta({ id: 'Analysis' })

export const analysisResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Score, findings and the rendered content. Nothing is sent.',
    schema: analysis,
    example: {
      score: 97,
      verdict: 'good',
      issues: [
        {
          code: 'link_insecure',
          severity: 'warning',
          category: 'links',
          message: 'Links use http: http://example.com/. Use https.',
          field: 'html',
          penalty: 3,
        },
      ],
      stats: {
        size_bytes: 1482,
        subject_characters: 10,
        html_bytes: 120,
        text_bytes: 60,
        words: 12,
        links: 1,
        images: 0,
        remote_images: 0,
        attachments: 0,
        image_text_ratio: 0,
      },
      links: [{ url: 'http://example.com/', text: 'Your order', problems: ['link_insecure'] }],
      rendered: { subject: 'Your order', html: '<p>Thanks!</p>', text: 'Thanks!' },
    },
  },
]

/** Description of the operation in CommonMark, with a table of all finding codes. */
export const FINDINGS_TEXT = [
  'Checks a message for problems with mail clients and spam filters, without using the network. Each finding has a stable code:',
  '',
  '| Code | Severity | Finding | Fix |',
  '|---|---|---|---|',
  ...Object.entries(FINDING_KINDS).map(
    ([code, { severity, what, advice }]) => `| \`${code}\` | ${severity} | ${cell(what)} | ${cell(advice)} |`,
  ),
].join('\n')

/** Escapes text for a table cell, where `|` would end the cell and `<` start a tag. */
function cell(words: string): string {
  return words.replaceAll('|', '\\|').replaceAll('<', '\\<')
}
