import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider domain …`. */
export function addDomains(program: Command, end: (code: number) => void): void {
  const domain = program.command('domain').description('manage sending domains')
  withRecords(domain.command('add <name>'))
    .description('add a sending domain and create its two DKIM keys')
    .option('--org <org>', 'organization id or name; required if there are several')
    .option('--server-name', "allow the server's own hostname, to receive mail for its postmaster")
    .action(async (name, options) => (await import('../domain.ts')).addDomain(name, options))
  withRecords(domain.command('list'))
    .description('list sending domains')
    .option('--org <org>', 'only domains of this organization')
    .action(async (options) => (await import('../domain.ts')).listDomains(options))
  withRecords(domain.command('show <name>'))
    .description('show a domain, its DNS records and their last check')
    .action(async (name, options) => (await import('../domain.ts')).showDomain(name, options))
  withRecords(domain.command('verify <name>'))
    .description('check DNS now; exits with 0 only if the domain is verified')
    .action(async (name, options) => end(await (await import('../domain.ts')).verify(name, options)))
  withRecords(domain.command('dmarc <name>'))
    .description('show who sends in the name of a domain, from the DMARC reports of the last 30 days')
    .action(async (name, options) => (await import('../domain.ts')).showSenders(name, options))
  withRecords(domain.command('rotate-dkim <name>'))
    .description('create new DKIM keys; they sign mail after their DNS records are published')
    .action(async (name, options) => (await import('../domain.ts')).rotateDkim(name, options))
}
