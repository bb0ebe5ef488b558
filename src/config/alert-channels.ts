/** The kind of `alerts.channels`: where alerts for the operator go. Files with secrets are read when they are needed. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { eachOnce, fromJson, type Kind, LABEL, LABEL_EXPECTED, mailAddress, port, written } from './kinds.ts'
import { parseShortHostName } from './notations.ts'

/** An operator's channel. Paths are absolute. */
export interface AlertChannel {
  name: string
  type: 'mail' | 'webhook' | 'slack' | 'discord' | 'teams'
  /** Alerts below it are not sent to the channel. */
  minSeverity: 'warning' | 'critical'
  /** Null: it is in `urlFile`, or the channel is of the type mail. */
  url: string | null
  urlFile: string | null
  /** Signing secret of a webhook. */
  secretFile: string | null
  /** Recipient of the mail. */
  to: string
  /** Sender of the mail through `server`; '' = users.mail_from. */
  from: string
  /** Null: mail goes through our own queue. */
  server: {
    host: string
    port: number
    tls: 'starttls' | 'implicit' | 'none'
    username: string | null
    passwordFile: string | null
    /** Null: the system's authorities. */
    caFile: string | null
  } | null
}

const path = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\x00-\x1f\x7f]+$/)
  .optional()
const address = mailAddress.schema.prefault('')

const row = z.strictObject({
  name: z.string().regex(LABEL),
  type: z.enum(['mail', 'webhook', 'slack', 'discord', 'teams']),
  min_severity: z.enum(['warning', 'critical']).default('warning'),
  url: z
    .string()
    .max(2000)
    .refine((text) => URL.parse(text)?.protocol === 'https:')
    .optional(),
  url_file: path,
  secret_file: path,
  to: address,
  from: address,
  host: written((text) => (isIP(text) === 0 ? parseShortHostName(text) : text)).optional(),
  port: port.schema.optional(),
  tls: z.enum(['starttls', 'implicit', 'none']).default('starttls'),
  username: z.string().min(1).max(500).optional(),
  password_file: path,
  ca_file: path,
})
type Row = z.output<typeof row>

export const alertChannels: Kind<readonly AlertChannel[], readonly z.input<typeof row>[]> = {
  expected: 'tables with name and type, and with url, url_file or to',
  rows: {
    name: `${LABEL_EXPECTED}, each only once`,
    type: 'one of "mail", "webhook", "slack", "discord", "teams"',
    min_severity: 'one of "warning", "critical"',
    url: 'an https:// URL, or url_file with the file that contains it, unless type is "mail"',
    url_file: 'the path of a file with the https:// URL, instead of url',
    secret_file: 'the path of a file with the signing secret, for the type "webhook" only',
    to: 'an email address, for the type "mail" only',
    from: 'an email address, for the type "mail" with host only',
    host: 'the hostname or IP address of a mail server, for the type "mail" only',
    port: 'a whole number from 1 to 65535, together with host',
    tls: 'one of "starttls", "implicit", "none"',
    username: 'a user of the mail server, together with password_file',
    password_file: 'the path of a file with the password, together with username',
    ca_file: 'the path of a file with PEM certificates, together with host and TLS',
  },
  secretRows: ['url'],
  schema: z
    .array(row)
    .max(20)
    .superRefine(eachOnce(({ name }) => name, 'name'))
    .superRefine((rows, context) => {
      for (const [at, each] of rows.entries()) {
        for (const name of misfits(each)) context.addIssue({ code: 'custom', path: [at, name] })
      }
    })
    .transform((rows) => rows.map(channelOf))
    .readonly(),
  fromText: fromJson,
  located: (channels, locate) =>
    channels.map(({ server, ...channel }) => ({
      ...channel,
      urlFile: channel.urlFile && locate(channel.urlFile),
      secretFile: channel.secretFile && locate(channel.secretFile),
      server: server && {
        ...server,
        passwordFile: server.passwordFile && locate(server.passwordFile),
        caFile: server.caFile && locate(server.caFile),
      },
    })),
}

/** The files that the channels name, by their keys. */
export function filesOfChannels(channels: readonly AlertChannel[]): [key: string, path: string | null][] {
  return channels.flatMap(({ urlFile, secretFile, server }, at): [string, string | null][] => [
    [`alerts.channels.${at}.url_file`, urlFile],
    [`alerts.channels.${at}.secret_file`, secretFile],
    [`alerts.channels.${at}.password_file`, server?.passwordFile ?? null],
    [`alerts.channels.${at}.ca_file`, server?.caFile ?? null],
  ])
}

/** Keys whose value, or absence, does not fit the others. */
function misfits(row: Row): (keyof Row)[] {
  const isMail = row.type === 'mail'
  const found: (keyof Row)[] = []
  if (isMail ? row.url !== undefined : (row.url === undefined) === (row.url_file === undefined)) found.push('url')
  if (isMail && row.url_file !== undefined) found.push('url_file')
  if ((row.type === 'webhook') !== (row.secret_file !== undefined)) found.push('secret_file')
  if (isMail !== (row.to !== '')) found.push('to')
  if (row.host !== undefined && !isMail) found.push('host')
  if (row.from !== '' && row.host === undefined) found.push('from')
  if (row.port !== undefined && row.host === undefined) found.push('port')
  if (row.username !== undefined && (row.host === undefined || row.password_file === undefined)) found.push('username')
  if (row.password_file !== undefined && row.username === undefined) found.push('password_file')
  if (row.ca_file !== undefined && (row.host === undefined || row.tls === 'none')) found.push('ca_file')
  return found
}

function channelOf(row: Row): AlertChannel {
  const { name, type, min_severity, url, url_file, secret_file, to, from, host, tls } = row
  const server =
    host === undefined
      ? null
      : {
          host,
          port: row.port ?? (tls === 'implicit' ? 465 : 587),
          tls,
          username: row.username ?? null,
          passwordFile: row.password_file ?? null,
          caFile: row.ca_file ?? null,
        }
  return {
    name,
    type,
    minSeverity: min_severity,
    url: url ?? null,
    urlFile: url_file ?? null,
    secretFile: secret_file ?? null,
    to,
    from,
    server,
  }
}
