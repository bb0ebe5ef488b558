import type { Encryption } from '../encryption.ts'
import { type Database, inPostgres } from '../sql.ts'
import type { SharedCertificates } from '../store.ts'

const CHANGED = inPostgres<{ version: number; certificate: Uint8Array | null; progress: string | null }>(
  'select version::float8 as version, certificate, progress from certificates where one = 1 and version <> $1',
)
const KEEP_CERTIFICATE = inPostgres(
  'update certificates set version = version + 1, certificate = $1::bytea where one = 1',
)
const KEEP_PROGRESS = inPostgres('update certificates set version = version + 1, progress = $1::text where one = 1')
const SHOW = inPostgres(`insert into challenges (token, answer, ends_at)
  values ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
  on conflict (token) do update set answer = excluded.answer, ends_at = excluded.ends_at`)
const HIDE = inPostgres('delete from challenges where token = $1')
const SHOWN = inPostgres<{ answer: string }>(
  'select answer from challenges where token = $1 and ends_at > clock_timestamp()',
)

/** What the certificate is encrypted for. */
const PLACE = 'certificates'

export function postgresCertificates(
  { row, run }: Pick<Database, 'row' | 'run'>,
  encryption: Encryption,
): SharedCertificates {
  return {
    changed: async (known) => {
      const found = await row(CHANGED, known)
      return (
        found && { ...found, certificate: found.certificate && encryption.decrypt(found.certificate, PLACE).toString() }
      )
    },
    keep: (part, text) =>
      part === 'progress'
        ? run(KEEP_PROGRESS, text)
        : run(KEEP_CERTIFICATE, encryption.encrypt(Buffer.from(text), PLACE)),
    show: (token, answer, forMs) => run(SHOW, token, answer, forMs),
    hide: (token) => run(HIDE, token),
    shown: async (token) => (await row(SHOWN, token))?.answer ?? null,
  }
}
