import type { Encryption } from '../encryption.ts'
import type { SharedCertificates } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const CHANGED = `select version::float8 as version, certificate, progress from certificates
  where one = 1 and version <> $1`
const KEEP_CERTIFICATE = 'update certificates set version = version + 1, certificate = $1::bytea where one = 1'
const KEEP_PROGRESS = 'update certificates set version = version + 1, progress = $1::text where one = 1'
const SHOW = `insert into challenges (token, answer, ends_at)
  values ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
  on conflict (token) do update set answer = excluded.answer, ends_at = excluded.ends_at`
const HIDE = 'delete from challenges where token = $1'
const SHOWN = 'select answer from challenges where token = $1 and ends_at > clock_timestamp()'

/** What the certificate is encrypted for. */
const PLACE = 'certificates'

export function postgresCertificates(reads: Reads, writer: Writer, encryption: Encryption): SharedCertificates {
  return {
    changed: async (known) => {
      const [row] = await reads.query<{ version: number; certificate: Uint8Array | null; progress: string | null }>(
        CHANGED,
        [known],
      )
      if (row === undefined) return null
      const { certificate } = row
      return { ...row, certificate: certificate && encryption.decrypt(certificate, PLACE).toString() }
    },
    keep: (part, text) =>
      writer.write(async ({ run }) => {
        if (part === 'progress') await run(KEEP_PROGRESS, [text])
        else await run(KEEP_CERTIFICATE, [encryption.encrypt(Buffer.from(text), PLACE)])
      }),
    show: (token, answer, forMs) =>
      writer.write(async ({ run }) => {
        await run(SHOW, [token, answer, forMs])
      }),
    hide: (token) =>
      writer.write(async ({ run }) => {
        await run(HIDE, [token])
      }),
    shown: async (token) => (await reads.query<{ answer: string }>(SHOWN, [token]))[0]?.answer ?? null,
  }
}
