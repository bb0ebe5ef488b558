import { describe, expect, test } from 'bun:test'
import { type Alert, MOST_ALERT_TEXT } from '../../model/alert.ts'
import { discordBody, noticeId, slackBody, teamsBody, webhookBody } from './formats.ts'
import { alertText, testText } from './text.ts'

const START = 1_795_262_400_000
const about = { hostname: 'mail.example.com', publicUrl: () => 'https://mail.example.com' }
const alert: Alert = {
  id: 'alr_1',
  kind: 'health_check',
  subject: 'outbound_port_25',
  node: '',
  severity: 'critical',
  message: 'mx.example rejects us: <!channel> @everyone [click](https://evil.example) & *bold*',
  advice: null,
  state: 'firing',
  firstSeenAt: START,
  lastSeenAt: START,
  missingSince: null,
  raisedAt: START,
  resolvedAt: null,
}
const firing = alertText(alert, 'firing', 0, about)
const ended = () => alertText({ ...alert, state: 'resolved', resolvedAt: START + 60_000 }, 'resolved', 0, about)

describe('the text of an alert', () => {
  test('names the server, the problem, what to do, and when it began', () => {
    expect(firing).toEqual({
      event: 'firing',
      title: 'Critical: Check failed: outbound port 25 (mail.example.com)',
      severity: 'critical',
      message: alert.message,
      advice: 'Run `postrider doctor` and follow its advice.',
      facts: [
        ['Server', 'mail.example.com'],
        ['Since', '2026-11-21 12:00 UTC'],
      ],
      url: 'https://mail.example.com/dashboard/health',
    })
  })

  test('gives no advice for what has ended, and says that it was said before', () => {
    expect(ended()).toMatchObject({ advice: null, title: expect.stringMatching(/^Resolved: Check failed/) })
    expect(ended().facts.at(-1)).toEqual(['Resolved', '2026-11-21 12:01 UTC'])
    expect(alertText(alert, 'firing', 2, about).title).toMatch(/^Still critical: /)
  })
})

describe('no format makes a mention, a link or markup of the words of others', () => {
  // threat: alert-markup
  test('Slack', () => {
    const text = JSON.stringify(slackBody(firing))
    expect(text).toContain('&lt;!channel&gt; @everyone [click](https://evil.example) &amp;')
    expect(text.match(/<[^>]*>/g)).toEqual(['<https://mail.example.com/dashboard/health|Health>'])
  })

  test('Discord', () => {
    const body = discordBody(firing)
    expect(body).toMatchObject({ allowed_mentions: { parse: [] }, embeds: [{ color: 0xc0392b }] })
    const [embed] = (body as { embeds: { description: string }[] }).embeds
    expect(embed!.description).toContain(String.raw`\<!channel\> @everyone \[click\](https://evil.example) & \*bold\*`)
    expect(discordBody(ended())).toMatchObject({ embeds: [{ color: 0x1e8449 }] })
  })

  test('Teams', () => {
    const body = teamsBody(firing) as { attachments: { content: { body: { text: string; color: string }[] } }[] }
    const [title, message] = body.attachments[0]!.content.body
    expect(title).toMatchObject({ color: 'Attention' })
    expect(message!.text).toContain(String.raw`\[click\](https://evil.example)`)
  })
})

describe('the longest texts fit', () => {
  const host = `${'h'.repeat(63)}.`.repeat(4).slice(0, 253)
  for (const [what, letter] of [
    ['markup', '*'],
    ['escapes', '&'],
    ['wide letters', '漢'],
    ['pairs', '😀'],
    ['lines', '\n'],
  ] as const) {
    const text = letter.repeat(MOST_ALERT_TEXT / letter.length)
    const worst: Alert = {
      ...alert,
      subject: host,
      node: 'n'.repeat(63),
      message: text,
      advice: text,
      resolvedAt: START,
    }
    const long = alertText(worst, 'firing', 2, { hostname: host, publicUrl: () => `https://${host}` })
    const sizes = (texts: string[], most: number) => {
      for (const each of texts) expect(each.length).toBeWithin(1, most + 1)
    }

    test(`of ${what}: Slack`, () => {
      const { text: notice, blocks } = slackBody(long) as {
        text: string
        blocks: { type: string; text?: { text: string }; elements?: { text: string }[] }[]
      }
      sizes([notice], 4_000)
      sizes([blocks[0]!.text!.text], 150)
      sizes(
        blocks.slice(1).flatMap(({ text, elements = [] }) => [text ?? [], elements].flat().map((each) => each.text)),
        3_000,
      )
      expect(blocks.at(-1)!.elements!.length).toBeLessThan(11)
      expect(JSON.stringify(blocks)).not.toMatch(/\\ud[89a-f]/)
    })

    test(`of ${what}: Discord`, () => {
      const [embed] = (
        discordBody(long) as {
          embeds: { title: string; description: string; fields: { name: string; value: string }[] }[]
        }
      ).embeds
      const { title, description, fields } = embed!
      sizes([title], 256)
      sizes([description], 4_096)
      sizes(
        fields.map(({ value }) => value),
        1_024,
      )
      sizes([[title, description, ...fields.flatMap(({ name, value }) => [name, value])].join('')], 6_000)
      expect(JSON.stringify(embed)).not.toMatch(/\\ud[89a-f]/)
    })

    test(`of ${what}: Teams`, () => {
      // 28 KB, also if each character counts twice.
      expect(Buffer.byteLength(JSON.stringify(teamsBody(long)))).toBeLessThan(14_000)
    })
  }
})

test('our own webhook has a type, and an ID that is the same in each attempt', () => {
  expect(noticeId({ alertId: 'alr_1', channel: 'ops', event: 'firing', round: 0 })).toBe('alr_1_firing_0')
  expect(webhookBody(alert, firing, about, START)).toEqual({
    type: 'alert.firing',
    timestamp: '2026-11-21T12:00:00.000Z',
    data: {
      id: 'alr_1',
      kind: 'health_check',
      subject: 'outbound_port_25',
      node: null,
      severity: 'critical',
      title: 'Check failed: outbound port 25',
      message: alert.message,
      advice: 'Run `postrider doctor` and follow its advice.',
      raised_at: '2026-11-21T12:00:00.000Z',
      resolved_at: null,
      server: { hostname: 'mail.example.com', url: 'https://mail.example.com/dashboard/health' },
    },
  })
  expect(webhookBody(null, testText(about), about, START)).toMatchObject({ type: 'alert.test' })
})
