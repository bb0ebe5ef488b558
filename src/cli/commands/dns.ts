import type { Command } from 'commander'
import { seconds, withRecords } from '../options.ts'

/** What to publish for a domain, and whether it is. */
export function addDns(program: Command, end: (code: number) => void): void {
  const dns = program.command('dns').description('the DNS records of a sending domain')
  withRecords(dns.command('show <domain>'))
    .description('what to publish: a table, or the lines of a zone file')
    .option('--zone', 'print lines for a zone file, as BIND reads them')
    .action(async (name, options) => (await import('../dns.ts')).showDns(name, options))
  withRecords(dns.command('check <domain>'))
    .description('ask the name servers of the domain; exit code 0 only when all required records are right')
    .option('--wait', 'ask again until they are')
    .option('--timeout <seconds>', 'wait so long', seconds, 3600)
    .action(async (name, options) => end(await (await import('../dns.ts')).checkDns(name, options)))
}
