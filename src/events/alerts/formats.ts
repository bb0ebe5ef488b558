import { cutText } from '../../mail/cut-text.ts'
import { type Alert, adviceFor, alertTitle, type NoticeKey } from '../../model/alert.ts'
import { iso } from '../../model/event.ts'
import type { AboutServer, AlertText } from './text.ts'

/** Bodies of the posts to channels. Texts contain words of tenants and of other servers: no format may turn them into a
 *  mention, a link or markup. Stored texts have at most MOST_ALERT_TEXT characters; what an escape or a name makes longer
 *  than a service takes is cut. */

/** A Slack incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks. `text` is shown
 *  in notifications. A header has at most 150 characters, a section and an element of a context 3000; a context has at most
 *  10 elements. https://docs.slack.dev/reference/block-kit/blocks */
export function slackBody({ title, message, advice, facts, url }: AlertText): object {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
  const sections = [slackText(message), ...(advice === null ? [] : [`*What to do*\n${slackText(advice)}`])]
  const context = [...facts.map(([label, value]) => `${label}: ${slackText(value)}`), `<${slackText(url)}|Health>`]
  return {
    text: slackText(title),
    unfurl_links: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, 150), emoji: false } },
      ...sections.map(section),
      { type: 'context', elements: context.map((text) => ({ type: 'mrkdwn', text })) },
    ],
  }
}

/** A Discord webhook: https://docs.discord.com/developers/resources/webhook#execute-webhook. An embed has a title of at
 *  most 256 characters, a description of 4096, values of fields of 1024, and 6000 in all. Nobody is mentioned, whatever the
 *  text says. https://docs.discord.com/developers/resources/message#embed-object-embed-limits */
export function discordBody({ event, title, severity, message, advice, facts, url }: AlertText): object {
  const description = [message, ...(advice === null ? [] : [`What to do: ${advice}`])].map(markdownText).join('\n\n')
  const fields = facts.map(([name, value]) => ({ name, value: markdownText(value), inline: true }))
  const color = event === 'firing' ? (severity === 'critical' ? RED : AMBER) : GREEN
  return {
    embeds: [{ title: cut(title, 256), description, url, color, fields }],
    allowed_mentions: { parse: [] },
  }
}

/** A Teams webhook, also of Workflows: a message with an Adaptive Card, of at most 28 KB. Only an empty line breaks a line.
 *  https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
export function teamsBody({ event, title, severity, message, advice, facts, url }: AlertText): object {
  const color = event === 'firing' ? (severity === 'critical' ? 'Attention' : 'Warning') : 'Good'
  const texts = [message, ...(advice === null ? [] : [`What to do: ${advice}`])]
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: markdownText(title), weight: 'Bolder', size: 'Medium', wrap: true, color },
            ...texts.map((text) => ({ type: 'TextBlock', text: cardText(text), wrap: true })),
            { type: 'FactSet', facts: facts.map(([name, value]) => ({ title: name, value: markdownText(value) })) },
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Health', url }],
        },
      },
    ],
  }
}

/** Our own webhook, enveloped like events. */
export function webhookBody(alert: Alert | null, { event, message, url }: AlertText, about: AboutServer, now: number) {
  const server = { hostname: about.hostname, url }
  if (alert === null) return { type: 'alert.test', timestamp: iso(now), data: { message, server } }
  const { id, kind, subject, node, severity, raisedAt, resolvedAt } = alert
  return {
    type: `alert.${event}`,
    timestamp: iso(now),
    data: {
      id,
      kind,
      subject: subject === '' ? null : subject,
      node: node === '' ? null : node,
      severity,
      title: alertTitle(alert),
      message: alert.message,
      advice: adviceFor(alert),
      raised_at: raisedAt === null ? null : iso(raisedAt),
      resolved_at: resolvedAt === null ? null : iso(resolvedAt),
      server,
    },
  }
}

/** ID of a post, the same in each attempt: receivers use it to ignore repeats. */
export const noticeId = ({ alertId, event, round }: NoticeKey): string => `${alertId}_${event}_${round}`

/** Slack reads only these three characters as markup that links or mentions; `*` and `_` change the type face alone. What
 *  would be too long for a section is cut. */
function slackText(text: string): string {
  const escaped = (part: string) => part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const whole = escaped(text)
  return whole.length <= SLACK_MOST ? whole : escaped(cut(text, SLACK_MOST / LONGEST_ESCAPE))
}

/** Puts a backslash before the characters that make links, mentions, code and bold text. `_` stays as it is, because
 *  names of checks contain it and it can only make text italic. */
const markdownText = (text: string) => text.replaceAll(/[\\`*~|[\]<>]/g, String.raw`\$&`)

const cardText = (text: string) => markdownText(text).replaceAll('\n', '\n\n')

const cut = (text: string, most: number) => (text.length <= most ? text : `${cutText(text, most - 1)}…`)

const SLACK_MOST = 2900
/** Of `&amp;`. */
const LONGEST_ESCAPE = 5

const RED = 0xc0392b
const AMBER = 0xd68910
const GREEN = 0x1e8449
