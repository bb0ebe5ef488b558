import { DOWNLOAD_MS } from '../../mail/download-link.ts'
import { CHALLENGE_MS, MAX_CODE_TRIES } from '../../model/factors.ts'
import { INVITATION_MS } from '../../model/invitation.ts'
import { LINK_MS, LONGEST_MS, UNUSED_MS } from '../../model/session.ts'
import { CONFIRM_MS } from '../../sending/submission/forwarding.ts'
import { FIRST_PASSWORD_MS, RESET_MS } from './password-link.ts'
import { KNOWN_SECONDS } from './sign-in/known-client.ts'
import { REQUEST_SECONDS } from './sign-in/single-sign-on/pages.ts'

/** A secret that this server makes, or that a person gives it. */
export interface SecretKind {
  /** As in the manual. */
  name: string
  /** Who gets it from Postrider, at most: nobody else ever reads it, in any answer, mail, file or log. */
  seenBy: string
  lifetime: string
  /** What ends it earlier, or at all. */
  ends: string
  /** What is kept of it. `column`: of the database. */
  stored: { as: 'SHA-256' | 'slow hash' | 'encrypted'; column: string } | { as: 'derived' | 'file' }
}

/** Every kind of secret. The manual's page `security` has them as a table.
 *  test/threats/secret-kinds.test.ts finds every place of src that makes one and every column that keeps one, and
 *  test/threats/planted-secrets.test.ts plants one of each kind and looks for it in everything that others can read: a kind
 *  without an entry fails both. */
export const SECRET_KINDS = {
  api_key: {
    name: 'API key, also the password of SMTP and the key of an agent',
    seenBy: 'the user or key that creates or rotates it, once',
    lifetime: 'as given',
    ends: 'revoking, rotation, expiry, removal of its maker',
    stored: { as: 'SHA-256', column: 'api_keys.secret_hash' },
  },
  webhook_secret: {
    name: 'Secret of a webhook',
    seenBy: 'the user or key that creates or rotates it, once; in the Resend format, each key that may rotate it',
    lifetime: 'no end',
    ends: 'rotation, deletion of the webhook',
    stored: { as: 'encrypted', column: 'webhooks.secret' },
  },
  previous_webhook_secret: {
    name: 'Secret of a webhook before its rotation',
    seenBy: 'the user or key that created it, once',
    lifetime: 'the grace period',
    ends: 'the next rotation, deletion of the webhook',
    stored: { as: 'encrypted', column: 'webhooks.previous_secret' },
  },
  route_secret: {
    name: 'Secret of an inbound route',
    seenBy: 'the user or key that creates the route, once',
    lifetime: 'no end',
    ends: 'deletion of the route',
    stored: { as: 'encrypted', column: 'inbound_routes.secret' },
  },
  webhook_headers: {
    name: 'Values of the headers of a webhook',
    seenBy: 'nobody but the endpoint; the user or key gives them',
    lifetime: 'as given',
    ends: 'other headers, a URL of another host, deletion of the webhook',
    stored: { as: 'encrypted', column: 'webhooks.headers' },
  },
  route_headers: {
    name: 'Values of the headers of an inbound route',
    seenBy: 'nobody but the endpoint; the user or key gives them',
    lifetime: 'as given',
    ends: 'other headers, a URL of another host, deletion of the route',
    stored: { as: 'encrypted', column: 'inbound_routes.headers' },
  },
  password: {
    name: 'Password',
    seenBy: 'nobody; the user enters it',
    lifetime: 'no end',
    ends: 'another password',
    stored: { as: 'slow hash', column: 'users.password_hash' },
  },
  session: {
    name: 'Session cookie',
    seenBy: 'the browser that signs in',
    lifetime: `${duration(UNUSED_MS)} without use, ${duration(LONGEST_MS)} at most`,
    ends: 'signing out, a new password, more rights, a disabled account',
    stored: { as: 'SHA-256', column: 'sessions.token_hash' },
  },
  known_browser: {
    name: 'Cookie of a known browser, which signs nobody in',
    seenBy: 'the browser that signed in',
    lifetime: duration(KNOWN_SECONDS * 1000),
    ends: 'a new password',
    stored: { as: 'derived' },
  },
  sign_in_link: {
    name: 'Sign-in link',
    seenBy: 'the operator on the command line',
    lifetime: duration(LINK_MS),
    ends: 'its use',
    stored: { as: 'SHA-256', column: 'login_links.token_hash' },
  },
  mailed_password_link: {
    name: 'Password link in a mail',
    seenBy: 'the mailbox of the user',
    lifetime: `${duration(RESET_MS)}, ${duration(FIRST_PASSWORD_MS)} for the first password`,
    ends: 'its use or that of the link on the screen, a newer link, a new password or address',
    stored: { as: 'SHA-256', column: 'password_resets.token_hash' },
  },
  shown_password_link: {
    name: 'Password link on the screen',
    seenBy: 'the operator who creates it, once',
    lifetime: 'as the link in the mail',
    ends: 'as the link in the mail',
    stored: { as: 'SHA-256', column: 'password_resets.token_hash' },
  },
  mailed_invitation: {
    name: 'Invitation in a mail',
    seenBy: 'the invited mailbox',
    lifetime: duration(INVITATION_MS),
    ends: 'its use or that of the link on the screen, a newer one, withdrawal, its author’s loss of the right to invite',
    stored: { as: 'SHA-256', column: 'invitations.mailed_hash' },
  },
  shown_invitation: {
    name: 'Invitation on the screen',
    seenBy: 'the operator who invites, once; others where no mail goes to users and there is one organization',
    lifetime: duration(INVITATION_MS),
    ends: 'as the mailed one',
    stored: { as: 'SHA-256', column: 'invitations.token_hash' },
  },
  sign_in_step: {
    name: 'Token of the second step of a sign-in, and challenge of a passkey',
    seenBy: 'the browser that signs in',
    lifetime: duration(CHALLENGE_MS),
    ends: `its use, ${MAX_CODE_TRIES} tries`,
    stored: { as: 'SHA-256', column: 'sign_in_challenges.token_hash' },
  },
  totp: {
    name: 'Secret of an app for codes',
    seenBy: 'the user who sets it up, once',
    lifetime: 'no end',
    ends: 'turning two-step sign-in off',
    stored: { as: 'encrypted', column: 'totp.secret' },
  },
  recovery_code: {
    name: 'Recovery code',
    seenBy: 'the user who creates it, once',
    lifetime: 'no end',
    ends: 'its use, newer codes, turning two-step sign-in off',
    stored: { as: 'SHA-256', column: 'recovery_codes.code_hash' },
  },
  sign_on_state: {
    name: 'State of single sign-on',
    seenBy: 'the browser and the provider',
    lifetime: duration(REQUEST_SECONDS * 1000),
    ends: 'its use',
    stored: { as: 'SHA-256', column: 'sign_on_requests.state_hash' },
  },
  sign_on_cookie: {
    name: 'Cookie of single sign-on, which gives nonce and PKCE secret',
    seenBy: 'the browser',
    lifetime: duration(REQUEST_SECONDS * 1000),
    ends: 'use of its state',
    stored: { as: 'SHA-256', column: 'sign_on_requests.browser_hash' },
  },
  forward_confirmation: {
    name: 'Link that confirms a forward',
    seenBy: 'the mailbox of the target; the operator who asks, if this server receives its mail',
    lifetime: duration(CONFIRM_MS),
    ends: 'removal of the target from its route; works more than once',
    stored: { as: 'derived' },
  },
  forward_stop: {
    name: 'Link that stops a forward',
    seenBy: 'the mailbox of the target, and the page that confirms',
    lifetime: 'no end',
    ends: 'nothing; works more than once',
    stored: { as: 'derived' },
  },
  download_link: {
    name: 'Download link of a received mail',
    seenBy: 'a key that may read the mail, by the Resend API',
    lifetime: duration(DOWNLOAD_MS),
    ends: 'removal of the mail; works more than once',
    stored: { as: 'derived' },
  },
  recipient_link: {
    name: 'Links of a recipient: open, click, unsubscribe',
    seenBy: 'the recipient, and the organization that sent the mail',
    lifetime: 'no end',
    ends: 'removal of the message',
    stored: { as: 'derived' },
  },
  return_path: {
    name: 'Return path of a delivery, loop header of a forward',
    seenBy: 'the recipient’s server, and the organization that sent the mail',
    lifetime: 'no end',
    ends: 'removal of the message',
    stored: { as: 'derived' },
  },
  canary_word: {
    name: 'Word of a canary',
    seenBy: 'the mailbox that the operator configured',
    lifetime: 'until the mail arrives or is missing',
    ends: 'its arrival; signs nobody in',
    stored: { as: 'derived' },
  },
  dkim_key: {
    name: 'Private DKIM key',
    seenBy: 'nobody',
    lifetime: 'as [configured](dns.md)',
    ends: 'rotation, deletion of the domain',
    stored: { as: 'encrypted', column: 'dkim_keys.private_key' },
  },
  installation_secret: {
    name: 'Keys from which links, return paths and tags derive; keys of ACME accounts',
    seenBy: 'nobody',
    lifetime: 'no end',
    ends: 'nothing',
    stored: { as: 'encrypted', column: 'secrets.value' },
  },
  certificate_key: {
    name: 'Private key of a certificate that Postrider makes or requests',
    seenBy: 'nobody; on several nodes, `certificates` has it encrypted',
    lifetime: 'as the certificate',
    ends: 'renewal',
    stored: { as: 'file' },
  },
  erased_address: {
    name: 'Address while it is erased',
    seenBy: 'the owner who erases it',
    lifetime: 'until the erasure ends',
    ends: 'the end of the erasure',
    stored: { as: 'encrypted', column: 'erasures.address' },
  },
  encryption_key: {
    name: '`seal.key`, which encrypts the others',
    seenBy: 'nobody; the file, and a backup that includes it',
    lifetime: 'no end',
    ends: '`postrider seal rotate`',
    stored: { as: 'file' },
  },
  backup_key: {
    name: '`backup.secret`, which signs backups',
    seenBy: 'nobody; no backup contains it',
    lifetime: 'no end',
    ends: 'removal of the file',
    stored: { as: 'file' },
  },
  configured: {
    name: 'Passwords and keys that the config names: relays, object storage, DNS, single sign-on, mailboxes, alerts',
    seenBy: 'nobody; the operator gives them',
    lifetime: 'as given',
    ends: 'another value',
    stored: { as: 'file' },
  },
} satisfies Record<string, SecretKind>

export type SecretKindId = keyof typeof SECRET_KINDS

/** The table of the manual, in Markdown. */
export function secretTable(): string {
  const rows = Object.values<SecretKind>(SECRET_KINDS).map(({ name, seenBy, lifetime, ends, stored }) => {
    const kept = 'column' in stored ? `${stored.as}, \`${stored.column}\`` : KEPT[stored.as]
    return `| ${name} | ${seenBy} | ${lifetime} | ${ends} | ${kept} |`
  })
  return ['| Secret | Who sees it | Lifetime | Ends with | Stored |', '|---|---|---|---|---|', ...rows].join('\n')
}

const KEPT = { derived: 'no; derived from a key of the installation', file: 'a file with mode 0600' }

/** `30 min`, `1 h`, `7 days` */
function duration(ms: number): string {
  const minutes = ms / 60_000
  if (minutes < 60) return `${minutes} min`
  return minutes < 1_440 ? `${minutes / 60} h` : `${minutes / 1_440} days`
}
