import { type Command, Option } from 'commander'
import { seconds, withRecords } from '../options.ts'

const PRINT_FORMATS = ['zone', 'terraform', 'octodns', 'commands']

/** `dns show`, `dns check` and `dns apply`. */
export function addDns(program: Command, end: (code: number) => void): void {
  const dns = program.command('dns').description('show, check and publish the DNS records of a sending domain')
  withRecords(dns.command('show <domain>'))
    .description('print the records to publish, as a table or as zone file lines')
    .option('--zone', 'print zone file lines in BIND format')
    .action(async (name, options) => (await import('../dns.ts')).showDns(name, options))
  withRecords(dns.command('check <domain>'))
    .description("query the domain's name servers; exits with 0 only if all required records are correct")
    .option('--wait', 'repeat until all required records are correct')
    .option('--timeout <seconds>', 'maximum time to wait', seconds, 3600)
    .action(async (name, options) => end(await (await import('../dns.ts')).checkDns(name, options)))
  withRecords(dns.command('apply <domain>'))
    .description('publish the records at the DNS provider, by the program lexicon')
    .option('--provider <name>', 'provider as lexicon calls it (default: dns.provider, or by the name servers)')
    .option('--dry-run', 'show the difference; change nothing')
    .option('--yes', 'do not ask; an existing DMARC record stays as it is')
    .option('--mx', 'also direct the mail of the domain to this server, in place of other MX records')
    .addOption(new Option('--print <format>', 'print the records for another tool instead').choices(PRINT_FORMATS))
    .option('--timeout <seconds>', 'maximum time to wait until the records are visible', seconds, 600)
    .action(async (name, options) => {
      if (options.print === undefined) return end(await (await import('../dns-apply.ts')).applyDns(name, options))
      await (await import('../dns-print.ts')).printDns(name, options)
    })
}
