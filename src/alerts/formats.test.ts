import { describe, expect, test } from 'bun:test'
import type { Alert } from '../model/alert.ts'
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
      title: 'Critical: Health check failed: outbound_port_25 (mail.example.com)',
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
    expect(ended()).toMatchObject({ advice: null, title: expect.stringMatching(/^Resolved: Health check failed/) })
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

test('all texts stay within the limits of the services, however long the parts are', () => {
  const long = alertText({ ...alert, message: '*'.repeat(1000), advice: '<'.repeat(1000) }, 'firing', 0, about)
  const slack = slackBody(long) as { blocks: { text?: { text: string } }[] }
  for (const { text } of slack.blocks) if (text) expect(text.text.length).toBeLessThan(3001)
  const [embed] = (discordBody(long) as { embeds: { title: string; description: string }[] }).embeds
  expect(embed!.description.length).toBeLessThan(4096 + 1)
  expect(JSON.stringify(teamsBody(long)).length).toBeLessThan(28_000)
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
      title: 'Health check failed: outbound_port_25',
      message: alert.message,
      advice: 'Run `postrider doctor` and follow its advice.',
      raised_at: '2026-11-21T12:00:00.000Z',
      resolved_at: null,
      server: { hostname: 'mail.example.com', url: 'https://mail.example.com/dashboard/health' },
    },
  })
  expect(webhookBody(null, testText(about), about, START)).toMatchObject({ type: 'alert.test' })
})
