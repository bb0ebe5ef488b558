import type { Command } from 'commander'
import { withRecords } from '../options.ts'

export function addOrganizations(program: Command): void {
  const org = program.command('org').description('organizations: who owns domains, keys and messages')
  withRecords(org.command('create <name>'))
    .description('create an organization')
    .option('--plan <plan>', 'one of the plans in the config', 'free')
    .action(async (name, options) => (await import('../org.ts')).createOrganization(name, options))
  withRecords(org.command('list'))
    .description('list organizations')
    .action(async (options) => (await import('../org.ts')).listOrganizations(options))
  withRecords(org.command('set-plan <org> <plan>'))
    .description('give an organization (id or name) another plan')
    .action(async (name, plan, options) => (await import('../org.ts')).setPlan(name, plan, options))
}
