import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import type { Place } from './place.ts'
import { runWell } from './run.ts'
import type { Staged } from './stage.ts'
import { isPostgres } from './store.ts'

/** Throws CommandFailure if the new program cannot open the store. */
export function requireNewer(config: Config, staged: Staged, schema: number | null, version: string): void {
  const newest = staged.newest[isPostgres(config) ? 'postgres' : 'sqlite']
  if (schema === null || schema <= newest) return
  throw new CommandFailure(
    `${version} cannot open this store: it has schema ${schema}, and ${version} opens schemas up to ${newest}. Nothing was changed.`,
  )
}

/** The schema steps that the new program makes on this store. */
export function stepsAhead(config: Config, { newest }: Staged, schema: number | null): number {
  return schema === null ? 0 : newest[isPostgres(config) ? 'postgres' : 'sqlite'] - schema
}

/** `1 schema step`. */
export const stepsText = (steps: number) => `${steps === 0 ? 'no' : steps} schema step${steps === 1 ? '' : 's'}`

/** Throws CommandFailure (exit code 2) if an upgrade would change a PostgreSQL database without the operator's word, and for
 *  `--no-backup` with SQLite, where a backup is always possible. */
export function requireBackupOf(config: Config, hasBackup: boolean, steps: number): void {
  if (!isPostgres(config)) {
    if (hasBackup) return
    throw usageFault(
      '--no-backup is for PostgreSQL, which has backups of its own. Choose another place with --backup-to.',
    )
  }
  if (!hasBackup || steps === 0) return
  throw usageFault(
    `the first node of the new version upgrades the tables (${stepsText(steps)}), and an older version does not open them afterwards. Back up PostgreSQL first, with its own tools or with: postrider backup FOLDER --dump. Then add --no-backup.`,
  )
}

/** Backs the installation up with the present program, and checks with the new one that it can be restored and upgraded: its
 *  schema steps run on that copy. Returns the path of the backup. Throws CommandFailure with the reason. */
export async function backUp(
  { place, configFile, config }: { place: Place; configFile: string; config: Config },
  to: string | undefined,
): Promise<string> {
  const folder = to ?? (process.getuid?.() === 0 ? '/var/backups/postrider/' : `${dirname(config.dataDir)}/backups/`)
  const target = to === undefined || folder.startsWith('s3://') || folder.endsWith('/') ? folder : `${folder}/`
  const printed = await runWell('the backup failed', [
    process.execPath,
    'backup',
    target,
    '--json',
    '--config',
    configFile,
  ])
  const { file } = JSON.parse(printed) as { file: string }
  if (!isPostgres(config)) await rehearse(place, file, configFile)
  return file
}

/** Needs as much space as the database, which the folder of the backup just had. */
async function rehearse({ staged }: Place, file: string, configFile: string): Promise<void> {
  const parent = file.startsWith('s3://') ? tmpdir() : dirname(file)
  const folder = mkdtempSync(join(parent, '.postrider-rehearsal-'))
  try {
    const command = [staged, 'restore', file, '--verify', '--json', '--config', configFile]
    await runWell('the new version cannot use the backup', command, { env: { TMPDIR: folder } })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
