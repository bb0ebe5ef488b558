import { createHash } from 'node:crypto'
import { type Component, sqliteVersion } from './components.ts'
import { type DebianPackage, debianPackages, type Processor } from './image/debian.ts'

export interface SbomSource {
  version: string
  licence: string
  revision: string
  /** Seconds since 1970. */
  time: number
  bunVersion: string
  components: readonly Component[]
}

/** What the executable contains (scope `required`), and what only the image adds (`optional`) → a CycloneDX 1.6 document. Its
 *  serial number comes from its content. Source: ECMA-424. */
export function sbomOf({ version, licence, revision, time, bunVersion, components }: SbomSource): string {
  const product = {
    type: 'application',
    'bom-ref': 'postrider',
    name: 'postrider',
    version,
    licenses: licences(licence),
    properties: [{ name: 'postrider:git-commit', value: revision }],
  }
  const all = [...components.map(ofNpm), ...runtime(bunVersion), ...ofImage()]
  const dependencies = [
    { ref: 'postrider', dependsOn: all.map((each) => each['bom-ref']) },
    ...all.map((each) => ({ ref: each['bom-ref'] })),
  ]
  const body = {
    metadata: { timestamp: new Date(time * 1000).toISOString(), component: product },
    components: all,
    dependencies,
  }
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    version: 1,
  }
  return `${JSON.stringify({ ...head, ...body }, null, 2)}\n`
}

function ofNpm({ name, version, licence, sha512 }: Component) {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const purl = `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${rest}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name: rest!,
    version,
    scope: 'required',
    hashes: [{ alg: 'SHA-512', content: sha512 }],
    licenses: licences(licence),
    purl,
  }
}

/** The runtime, the engine in it, and the database in the driver. */
function runtime(bunVersion: string) {
  const bun = `pkg:github/oven-sh/bun@bun-v${bunVersion}`
  const sqlite = `pkg:generic/sqlite@${sqliteVersion()}`
  return [
    {
      type: 'platform',
      'bom-ref': bun,
      name: 'bun',
      version: bunVersion,
      scope: 'required',
      licenses: licences('MIT'),
      purl: bun,
    },
    // Bun's own file of licences names no version of it.
    {
      type: 'library',
      'bom-ref': 'javascriptcore',
      name: 'JavaScriptCore',
      scope: 'required',
      licenses: licences('LGPL-2.1-or-later'),
    },
    {
      type: 'library',
      'bom-ref': sqlite,
      name: 'sqlite',
      version: sqliteVersion(),
      scope: 'required',
      licenses: licences('blessing'),
      purl: sqlite,
    },
  ]
}

function ofImage() {
  const names = { x64: 'amd64', arm64: 'arm64' }
  return (Object.keys(names) as Processor[]).flatMap((processor) => {
    return debianPackages(processor).map(({ name, version, sha256 }: DebianPackage) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${names[processor]}`
      return {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        scope: 'optional',
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        purl,
        properties: [{ name: 'postrider:part-of', value: 'image' }],
      }
    })
  })
}

/** An identifier, an expression of several, or what the package wrote instead. */
function licences(text: string) {
  if (/^[\w.+-]+$/.test(text)) return [{ license: { id: text } }]
  if (/^[\w.+()\s-]+$/.test(text) && / (AND|OR|WITH) /.test(text)) return [{ expression: text }]
  return [{ license: { name: text } }]
}

/** A UUID of version 8 (RFC 9562, 5.8) from a hash. */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest().subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x80
  hash[8] = (hash[8]! & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
