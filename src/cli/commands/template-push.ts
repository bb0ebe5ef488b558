import type { Command } from 'commander'
import { withOrganization } from '../options.ts'
import { serverOptions } from '../server-access.ts'

/** `postrider template push`. */
export function addTemplatePush(templates: Command, end: (code: number) => void): void {
  const [url, apiKey] = serverOptions('push to')
  withOrganization(templates.command('push <files...>'))
    .description('turn React Email components into templates, and create or update these')
    .option('--alias <alias>', 'alias of the template (default: the name of the file)')
    .option('--name <name>', 'name in lists')
    .option('--subject <text>', 'subject line, with variables: "Order {{ order.id }}"')
    .option('--dry-run', 'check and report only; with --json, print the templates')
    .addOption(url)
    .addOption(apiKey)
    .addHelpText(
      'after',
      `
Each file exports a component as default. Its PreviewProps become the variables and the sample of the template.
React and React Email come from the project of the file: npm install react react-dom @react-email/components
The files run as programs on this machine, with your rights. A folder stands for the .tsx and .jsx files in it.
A component that a template cannot replace is reported and not pushed.`,
    )
    .action(async (files, options) => end(await (await import('../template-push.ts')).pushTemplates(files, options)))
}
