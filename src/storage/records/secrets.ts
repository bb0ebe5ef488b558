import type { Encryption } from '../encryption.ts'
import { type Database, row, run, sql } from '../sql.ts'

const KEEP = sql('insert into secrets (name, value) values ($1, $2) on conflict do nothing')
const GET = sql<{ value: Uint8Array }>('select value from secrets where name = $1')

export function secretRecords(database: Database, encryption: Encryption) {
  /** A named secret of this installation, created from `fresh` on first use. */
  return (name: string, fresh: Uint8Array): Promise<Uint8Array> =>
    database.write(function* () {
      const place = `secrets ${name}`
      yield* run(KEEP, name, encryption.encrypt(fresh, place))
      const found = yield* row(GET, name)
      if (found === null) throw new Error(`the secret ${name} was not stored`)
      return new Uint8Array(encryption.decrypt(found.value, place))
    })
}
