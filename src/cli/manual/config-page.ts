import { toml } from '../../config/example.ts'
import { environmentName, listedIn, root } from '../../config/paths.ts'
import type { Key, OpenSection, Section } from '../../config/schema.ts'
import { bold, entry, heading, plain, subheading, title } from './roff.ts'

/** Keys of the config → man page postrider-config(5), as man(7) source. */
export function configPage(version: string): string {
  return [
    title('POSTRIDER-CONFIG', 5, version),
    heading('NAME'),
    `postrider-config \\- ${plain('config file of postrider(1)')}`,
    heading('DESCRIPTION'),
    plain(
      'The config is a TOML file, by default /etc/postrider/config.toml; --config sets another path. The server does not start with unknown keys or invalid values and reports all of them with file and line. Environment variables override the file. A secret can also come from a file named in <key>_file, or from systemd credentials. Names of times and sizes end with their unit.',
    ),
    heading('KEYS'),
    ...sectionText(root, []),
    heading('SEE ALSO'),
    `${bold('postrider')}(1)`,
  ].join('\n')
}

function sectionText(section: Section | OpenSection, path: string[]): string[] {
  const { keys, sections } = listedIn(section)
  const text =
    path.length === 0 ? [] : [subheading(`[${path.join('.')}]`), plain(section.about.replaceAll(/\s+/g, ' '))]
  const below = sections.flatMap(([name, node]) => sectionText(node, [...path, name]))
  return [...text, ...keys.map(([name, key]) => keyText(name, key, path)), ...below]
}

function keyText(name: string, key: Key, path: string[]): string {
  const words = [key.about.replaceAll(/\s+/g, ' '), `Expected: ${key.kind.expected}${key.unit ? `, ${key.unit}` : ''}.`]
  words.push(key.fallback === undefined ? 'Required.' : `Default: ${toml(key.fallback)}.`)
  if (key.isSecret) words.push(`Secret: to read it from a file, set ${name}_file.`)
  words.push(`Environment variable: ${environmentName([...path, name].join('.'))}.`)
  return entry(bold(name), words.join(' '))
}
