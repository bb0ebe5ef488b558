import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type HeldCounts, heldText } from '../../model/held.ts'
import { print, printJson } from '../print.ts'
import type { Archive } from './archive.ts'
import { DUMP, lastOf, type Manifest } from './manifest.ts'
import { onWire } from './release.ts'
import { SIGNING_KEY_FILE } from './signature.ts'
import type { Checked } from './unpack.ts'

/** Where a restore put the data. */
export interface RestoredPlace {
  dataDir: string
  /** Text of the backup's config, if it was installed. */
  newConfig: string | null
}

/** Prints the result of a restore. `place` is null after --verify, `held` if nothing is on hold. */
export function printRestored(
  done: {
    archive: Archive
    /** Null for an installation with PostgreSQL. */
    checked: Checked | null
    held: HeldCounts | null
    place: RestoredPlace | null
    replaced: string | null
  },
  options: { config: string; json?: true },
): void {
  const { place, held } = done
  const { manifest, isAuthenticated } = done.archive
  if (options.json) {
    printJson({
      data_dir: place?.dataDir ?? null,
      config: place?.newConfig ? options.config : null,
      replaced: done.replaced,
      made_at: manifest.made_at,
      program: manifest.program,
      schema: manifest.schema,
      instance_id: manifest.instance_id,
      hostname: manifest.hostname,
      authenticated: isAuthenticated,
      secrets: done.checked?.secrets ?? null,
      composed: done.checked?.composed ?? null,
      held: held && onWire(held),
    })
    return
  }
  print(`The backup is complete: ${manifest.hostname}, made ${manifest.made_at} by Postrider ${manifest.program}.
${isAuthenticated ? 'Its signature is valid.' : UNAUTHENTICATED}
${checkedWords(manifest, done.checked)}`)
  if (place === null) return
  print(`Restored to ${place.dataDir}.`)
  if (place.newConfig) print(`Config written to ${options.config}.`)
  if (done.replaced !== null) print(`The previous data is in ${done.replaced}. Delete it when you no longer need it.`)
  if (!existsSync(join(place.dataDir, SIGNING_KEY_FILE))) {
    print('The next backup creates a new key for its signature, and prints it. Keep that key too.')
  }
  if (held === null) return
  const sum = held.deliveries + held.webhookDeliveries + held.inboundDeliveries
  if (sum > 0) print(heldWords(held, manifest.made_at))
}

const UNAUTHENTICATED = `Postrider has not checked who made it (option --signed-by). Somebody who could write to where it was
stored may have added users, API keys and routes.`

function checkedWords(manifest: Manifest, checked: Checked | null): string {
  if (checked !== null) {
    const { secrets, composed } = checked
    return `Checksums and database are valid, ${secrets} secrets decrypted, ${composed} sample messages composed.`
  }
  if (lastOf(manifest) === DUMP) return 'Checksums are valid. It contains a dump of the PostgreSQL database.'
  return `Checksums are valid. It does not contain the PostgreSQL database: restore that from its own backup, then run
postrider restore adopt`
}

function heldWords(held: HeldCounts, madeAt: string): string {
  return `
On hold, because they may have been sent after ${madeAt}:
${heldText(held)}. New mail is sent as usual. When the server runs again, choose one:
   postrider restore release --all                 send everything; messages sent after the backup arrive twice
   postrider restore release --due-after <time>    send only what was due after the old server stopped
   postrider restore release --posts               send only webhook and inbound deliveries; receivers can deduplicate by id
   postrider restore release --discard             cancel everything`
}
