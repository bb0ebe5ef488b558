import type { Command } from 'commander'
import { whole, withRecords } from '../options.ts'

/** `upgrade`. */
export function addUpgrade(program: Command, end: (code: number) => void): void {
  withRecords(program.command('upgrade'))
    .description(
      'replace this program with a newer one of a signed release, restart the server, and go back if it is not ready',
    )
    .option('--from <from>', 'URL or folder of the release; not needed to continue an interrupted upgrade')
    .option('--version <version>', 'version to install (default: the highest)')
    .option('--check', 'verify the release, try its program, show the steps of the upgrade, and change nothing')
    .option(
      '--signers <file>',
      'file of public keys of minisign(1) that may sign releases (default: the keys of this program)',
    )
    .option('--allow-older', 'allow a version that is older than this program')
    .option(
      '--backup-to <folder>',
      'folder of the backup, also at s3://bucket/ (default for root: /var/backups/postrider)',
    )
    .option('--no-backup', 'with PostgreSQL: the database is backed up already')
    .option('--unit <name>', 'systemd unit of the server', 'postrider.service')
    .option('--stop-command <command>', 'without systemd: shell command that stops the server')
    .option('--start-command <command>', 'without systemd: shell command that starts the server')
    .option('--no-restart', 'do not restart the server')
    .option('--ready-within <seconds>', 'time until the new version must be ready', seconds, 900)
    .addHelpText('after', '\nSee the steps first: postrider upgrade --from URL --check')
    .action(async (options) => end(await (await import('../upgrade/upgrade.ts')).upgrade(options)))
}

const seconds = (text: string) => whole(text, 1, 86_400, 'number of seconds')
