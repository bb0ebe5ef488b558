import type { Command } from 'commander'
import { withRecords } from '../options.ts'

export function addDomains(program: Command, end: (code: number) => void): void {
  const domain = program.command('domain').description('sending domains, and what to publish for them in DNS')
  withRecords(domain.command('add <name>'))
    .description('add a sending domain with two DKIM keys')
    .option('--org <org>', 'id or name of its organization (needed when there are several)')
    .option('--server-name', "a name of this server itself, to receive its postmaster's mail")
    .action(async (name, options) => (await import('../domain.ts')).addDomain(name, options))
  withRecords(domain.command('list'))
    .description('list sending domains')
    .option('--org <org>', 'only those of this organization')
    .action(async (options) => (await import('../domain.ts')).listDomains(options))
  withRecords(domain.command('show <name>'))
    .description('one domain, its DNS records and what DNS last said of them')
    .action(async (name, options) => (await import('../domain.ts')).showDomain(name, options))
  withRecords(domain.command('verify <name>'))
    .description('ask DNS now; exit code 0 only when the domain is verified')
    .action(async (name, options) => end(await (await import('../domain.ts')).verify(name, options)))
  withRecords(domain.command('rotate-dkim <name>'))
    .description('make new DKIM keys; they sign once their records are seen')
    .action(async (name, options) => (await import('../domain.ts')).rotateDkim(name, options))
}
