import { type Command, Option } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider template import`. */
export function addTemplateImport(templates: Command, end: (code: number) => void): void {
  withRecords(templates.command('import [export]'))
    .description('import templates from Resend, Postmark or SendGrid and translate them to Liquid')
    .addOption(
      new Option('--from <service>', 'service that has the templates')
        .choices(['resend', 'postmark', 'sendgrid'])
        .makeOptionMandatory(),
    )
    .option('--org <org>', 'organization id or name; required if there are several')
    .option('--url <url>', 'base URL of the API (default: that of the service)')
    .option('--dry-run', 'report only; write nothing')
    .addHelpText(
      'after',
      `
Without a file, it calls the API with the key in RESEND_API_KEY, POSTMARK_SERVER_TOKEN or SENDGRID_API_KEY.
<export> is JSON with answers of that API, or the folder of \`postmark templates pull\`.
Templates with a helper or partial that has no equivalent are reported and not imported. Importing twice is safe.`,
    )
    .action(async (path, options) => end(await (await import('../template-import.ts')).importTemplates(path, options)))
}
