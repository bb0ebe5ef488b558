/** The kind of `canary.mailboxes`: mailboxes elsewhere that the server sends mail to and looks into. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { eachOnce, fromJson, type Kind, LABEL, LABEL_EXPECTED, mailAddress, port, written } from './kinds.ts'
import { parseShortHostName } from './notations.ts'

/** Paths are absolute; the files are read when they are needed. */
export interface CanaryMailbox {
  name: string
  address: string
  host: string
  port: number
  tls: 'starttls' | 'implicit' | 'none'
  username: string
  passwordFile: string
  /** Null: the system's authorities. */
  caFile: string | null
  folder: string
  /** Null: the folder that the server marks as \Junk. */
  spamFolder: string | null
}

const text = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\x00-\x1f\x7f]+$/)
const path = text.max(4096)

const row = z.strictObject({
  name: z
    .string()
    .regex(LABEL)
    .refine((name) => name !== RESERVED),
  address: mailAddress.schema.refine((address) => address !== ''),
  host: written((host) => (isIP(host) === 0 ? parseShortHostName(host) : host)),
  port: port.schema.optional(),
  tls: z.enum(['starttls', 'implicit', 'none']).default('implicit'),
  username: text.optional(),
  password_file: path,
  ca_file: path.optional(),
  folder: text.default('INBOX'),
  spam_folder: text.optional(),
})

/** The password would be readable on the way to any other. */
const THIS_MACHINE = /^(localhost|127\..*|::1)$/

/** Means the server's own listener. */
const RESERVED = 'self'

export const canaryMailboxes: Kind<readonly CanaryMailbox[], readonly z.input<typeof row>[]> = {
  expected: 'tables with name, address, host and password_file',
  rows: {
    name: `${LABEL_EXPECTED}, each only once, and not "${RESERVED}"`,
    address: 'an email address',
    host: 'the hostname or IP address of an IMAP server',
    port: 'a whole number from 1 to 65535',
    tls: 'one of "starttls", "implicit", or "none" for a server on this machine',
    username: 'the user of the IMAP server; the address by default',
    password_file: 'the path of a file with the password',
    ca_file: 'the path of a file with PEM certificates',
    folder: 'the name of a folder',
    spam_folder: 'the name of a folder',
  },
  schema: z
    .array(row)
    .max(20)
    .superRefine(eachOnce(({ name }) => name, 'name'))
    .superRefine((rows, context) => {
      for (const [at, { tls, host }] of rows.entries()) {
        if (tls === 'none' && !THIS_MACHINE.test(host)) context.addIssue({ code: 'custom', path: [at, 'tls'] })
      }
    })
    .transform((rows) =>
      rows.map(({ name, address, host, tls, folder, ...row }) => ({
        name,
        address,
        host,
        port: row.port ?? (tls === 'implicit' ? 993 : 143),
        tls,
        username: row.username ?? address,
        passwordFile: row.password_file,
        caFile: row.ca_file ?? null,
        folder,
        spamFolder: row.spam_folder ?? null,
      })),
    )
    .readonly(),
  fromText: fromJson,
  located: (mailboxes, locate) =>
    mailboxes.map((mailbox) => ({
      ...mailbox,
      passwordFile: locate(mailbox.passwordFile),
      caFile: mailbox.caFile && locate(mailbox.caFile),
    })),
}

/** The files that the mailboxes name, by their keys. */
export function filesOfMailboxes(mailboxes: readonly CanaryMailbox[]): [key: string, path: string | null][] {
  return mailboxes.flatMap(({ passwordFile, caFile }, at): [string, string | null][] => [
    [`canary.mailboxes.${at}.password_file`, passwordFile],
    [`canary.mailboxes.${at}.ca_file`, caFile],
  ])
}
