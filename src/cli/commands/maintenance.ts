import type { Command } from 'commander'
import { whole, withRecords } from '../options.ts'
import { withServer } from '../server-access.ts'

/** `audit` and `seal`. */
export function addMaintenance(program: Command): void {
  withServer(withRecords(program.command('audit')))
    .description('show the audit log: changes to keys, domains, webhooks, templates, routes, suppressions and plans')
    .option('--org <org>', 'only entries of this organization')
    .option('--limit <number>', 'number of entries, newest first', (text) => whole(text, 1, 10_000, 'number'), 50)
    .action(async (options) => (await import('../audit.ts')).showAuditLog(options))

  const encryptionKey = program.command('seal').description('manage the key that encrypts secrets on disk')
  withRecords(encryptionKey.command('rotate'))
    .description('re-encrypt all secrets with a new key; stop the server first')
    .action(async (options) => (await import('../rotate-key.ts')).rotateEncryptionKey(options))
}
