import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync, renameSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { iso } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import { noteBackup } from '../../os/last-backup.ts'
import { type Copied, copyDatabase } from '../../storage/sqlite/copy.ts'
import { describeDatabase } from '../../storage/sqlite/inspect.ts'
import { VERSION } from '../../version.ts'
import { CommandFailure } from '../failure.ts'
import { requireConfig } from '../office.ts'
import { complain, print } from '../print.ts'
import { hashOf, writeArchive } from './archive.ts'
import { type SmallFile, smallFiles } from './contents.ts'
import { DATABASE, FORMAT, type Manifest } from './manifest.ts'
import { createPace } from './pace.ts'
import { dropOld, type Target, targetOf } from './target.ts'
import { mb, openWorkshop, requireRoom, sync, type Workshop } from './workshop.ts'

/** Makes a backup, beside the running server or without one.
 *
 *  What is in it   everything that was answered with 202 or 250 before it began, as of one moment
 *  Cut off         the target is what it was; what lies around is removed by the next backup
 *  Disk full       the same, exit code 1
 *
 *  It works in a process of its own with the lowest priority: the server goes on, and its log grows by what it writes while
 *  the database is copied, not while that is compressed. */
export async function backup(
  to: string,
  options: { config: string; key: boolean; keep?: number; json?: true },
): Promise<void> {
  const config = requireConfig(options.config)
  const madeAt = systemClock.now()
  const target = targetOf(to, { madeAt, dataDir: config.dataDir, keep: options.keep })
  beLowly()
  const workshop = openWorkshop(target.workplace, 'backup')
  try {
    const database = join(workshop.folder, DATABASE)
    const copied = await copy(config, database, target)
    const small = smallFiles({ config: options.config, dataDir: config.dataDir, withKey: options.key })
    const manifest = await manifestOf({ config, madeAt, small, database })
    const bytes = await write(target, workshop, { manifest, small, database })
    const removed = options.keep === undefined ? [] : dropOld(to, options.keep)
    noteBackup(config.dataDir, { madeAt, bytes, to: target.file ?? 'standard output' })
    const record = {
      file: target.file,
      bytes,
      made_at: manifest.made_at,
      instance_id: manifest.instance_id,
      schema: manifest.schema,
      with_key: options.key,
      files: manifest.files.map(({ name }) => name),
      database_bytes: copied.bytes,
      log_bytes_before: copied.logBytes.before,
      log_bytes_after: copied.logBytes.after,
      took_ms: systemClock.now() - madeAt,
      removed,
    }
    const say = target.file === null ? complain : print
    say(options.json ? JSON.stringify(record) : told(record))
  } finally {
    workshop.remove()
  }
}

async function copy({ dataDir }: Config, to: string, target: Target): Promise<Copied> {
  const source = join(dataDir, DATABASE)
  const found = statSync(source, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailure(`${source}: there is no database; postrider init makes one`)
  // The copy, and the file made of it, which is never larger by much.
  requireRoom(target.workplace, found.size * (target.file === null ? 1 : 2), 'a backup')
  const handle = openSync(to, 'wx', 0o600)
  const copying = copyDatabase(source, to, createPace(handle)).finally(() => closeSync(handle))
  return copying.catch((thrown: unknown) => {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    if (!/^SQLITE_(FULL|IOERR)/.test(code)) throw thrown
    throw new CommandFailure(`${target.workplace}: the database cannot be copied: ${(thrown as Error).message}`)
  })
}

async function manifestOf(of: {
  config: Config
  madeAt: number
  small: readonly SmallFile[]
  database: string
}): Promise<Manifest> {
  const { schema, instanceId } = describeDatabase(of.database)
  const chunks = ({ bytes }: SmallFile) =>
    (async function* () {
      yield bytes
    })()
  return {
    format: FORMAT,
    program: VERSION,
    schema,
    made_at: iso(of.madeAt),
    instance_id: instanceId,
    hostname: of.config.hostname,
    files: [
      ...(await Promise.all(of.small.map(async (file) => ({ name: file.name, ...(await hashOf(chunks(file))) })))),
      { name: DATABASE, ...(await hashOf(createReadStream(of.database, { highWaterMark: 1024 * 1024 }))) },
    ],
  }
}

/** Answers how many bytes it has. */
async function write(target: Target, workshop: Workshop, content: Parameters<typeof writeArchive>[1]): Promise<number> {
  if (target.file === null) {
    const out = createWriteStream('', { fd: 1, autoClose: false })
    await writeArchive(out, content, () => {})
    return out.bytesWritten
  }
  const draft = join(workshop.folder, 'archive')
  const handle = openSync(draft, 'wx', 0o600)
  try {
    await writeArchive(createWriteStream('', { fd: handle, autoClose: false }), content, createPace(handle))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, target.file)
  sync(dirname(target.file))
  return statSync(target.file).size
}

/** Whoever waits for a mail comes first. */
function beLowly(): void {
  try {
    setPriority(19)
  } catch {
    // not allowed here, and no reason to stop
  }
}

function told(record: { file: string | null; bytes: number; with_key: boolean; took_ms: number; removed: string[] }) {
  const key = record.with_key ? '' : '; without seal.key, which a restore will ask for'
  const removed = record.removed.length === 0 ? '' : `\nremoved ${record.removed.join(', ')}`
  const seconds = (record.took_ms / 1000).toFixed(1)
  return `${record.file ?? 'written to standard output'}: ${mb(record.bytes)} in ${seconds} s${key}${removed}`
}
