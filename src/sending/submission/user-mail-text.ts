import { LINK_TOKEN } from '../../mail/recipient-parts.ts'
import type { Role } from '../../model/user.ts'
import { hasInvisible } from '../../net/visible-text.ts'

/** The content of a mail to a user. Times are ms UTC. */
export type UserMailText =
  | { kind: 'invitation'; role: Role; organization: string; inviter: string | null; expiresAt: number }
  /** `asked`: on the sign-in page; otherwise an operator made the link. */
  | { kind: 'password'; email: string; isNew: boolean; asked: boolean; expiresAt: number }
  | { kind: 'password_changed'; email: string; at: number }
  /** `url`: page of the dashboard. */
  | { kind: 'alert'; subject: string; paragraphs: readonly string[]; url: string }

/** Text and the public URL → subject, text and HTML, with LINK_TOKEN in place of the token. Nobody but the installation
 *  decides the subject and the links; names of tenants appear quoted, and only if no mail client makes a link of them. */
export function writtenUserMail(
  mail: UserMailText,
  publicUrl: string,
): { subject: string; text: string; html: string } {
  const server = URL.parse(publicUrl)?.hostname || 'this server'
  const { subject, paragraphs } = written(mail, { server, signInUrl: `${publicUrl}/dashboard/sign-in` })
  return {
    subject,
    text: `${paragraphs.map((each) => (typeof each === 'string' ? each : each.url)).join('\n\n')}\n`,
    html: page(paragraphs.map(paragraph).join('\n')),
  }
}

/** A string is a paragraph of text; `label` is the text of the link in HTML. */
type Paragraph = string | { url: string; label: string }

function written(
  mail: UserMailText,
  { server, signInUrl }: { server: string; signInUrl: string },
): { subject: string; paragraphs: Paragraph[] } {
  switch (mail.kind) {
    case 'invitation':
      return {
        subject: `Invitation to ${server}`,
        paragraphs: [
          `${quotedName(mail.inviter, 'A user')} invited you to ${quotedName(mail.organization, 'an organization')} on ${server}, a server that sends and receives mail. Your role will be ${mail.role}.`,
          `Open this link to accept. It works once, until ${dateOf(mail.expiresAt)}.`,
          { url: `${signInUrl}#invitation=${LINK_TOKEN}`, label: 'Accept the invitation' },
          'If you did not expect this invitation, ignore this mail.',
        ],
      }
    case 'password':
      return {
        subject: mail.isNew ? `Your account on ${server}` : `New password for ${server}`,
        paragraphs: [
          reasonOf(mail, server),
          `Open this link to set your password. It works once, until ${dateOf(mail.expiresAt)}.`,
          { url: `${signInUrl}#reset=${LINK_TOKEN}`, label: 'Set your password' },
          mail.asked
            ? 'If you did not ask for this, ignore this mail. Your password stays as it is.'
            : 'If you did not expect this mail, ignore it.',
        ],
      }
    case 'alert':
      return {
        subject: mail.subject,
        paragraphs: [...mail.paragraphs, { url: mail.url, label: 'Open the health page' }],
      }
    case 'password_changed':
      return {
        subject: `Your password for ${server} was changed`,
        paragraphs: [
          `The password of the account ${mail.email} on ${server} was changed on ${dateOf(mail.at)}. Its other sessions have ended.`,
          'If this was not you, ask the operator of the server for a new link at once.',
        ],
      }
  }
}

function reasonOf({ email, isNew, asked }: UserMailText & { kind: 'password' }, server: string): string {
  if (asked) return `Somebody asked for a new password for the account ${email} on ${server}.`
  return isNew
    ? `You have the account ${email} on ${server}, a server that sends and receives mail.`
    : `The operator of ${server} created a link that sets a new password for your account ${email}.`
}

/** Name that somebody chose → the same in quotation marks; `instead` for a name that is long, hides characters, or that a
 *  mail client could make a link of: a domain, an address or a telephone number. */
export function quotedName(name: string | null, instead: string): string {
  if (name === null || name.length > MAX_NAME || hasInvisible(name) || LINK_LIKE.test(name)) return instead
  return name.replaceAll(/\D/g, '').length > MAX_DIGITS ? instead : `“${name.trim()}”`
}

const MAX_NAME = 60
const MAX_DIGITS = 6
/** A dot before a letter or digit, also a full-width one, which names in links may have (UTS 46). */
const LINK_LIKE = /[/\\:@<>]|[.。．｡][\p{L}\p{N}]/u

/** `2026-11-21 12:00 UTC` */
const dateOf = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const paragraph = (part: Paragraph) =>
  typeof part === 'string'
    ? `<p>${escaped(part)}</p>`
    : `<p><a href="${escaped(part.url)}" style="display: inline-block; padding: 10px 18px; border-radius: 6px; background-color: #0f5c5c; color: #ffffff; font-weight: 600; text-decoration: none;">${part.label}</a></p>\n<p style="font-size: 13px; word-break: break-all;">${escaped(part.url)}</p>`

const page = (body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
</head>
<body style="margin: 0 auto; max-width: 560px; padding: 24px 16px; font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; font-size: 16px; line-height: 24px;">
${body}
</body>
</html>
`

const escaped = (text: string) => text.replace(/[&<>"]/g, (found) => ENTITIES[found]!)
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
