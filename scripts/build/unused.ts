import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packageWithShortNames } from './short-names.ts'

/** Imports of packages whose code Postrider never runs, and what the executable contains instead. Each is checked
 *  against the versions in `checked` and the files in `importers`; anything else ends the build (`withoutUnused`), so
 *  that an upgrade or a new use repeats the check. */
export interface Unused {
  /** As the import statement names it. */
  specifier: string
  /** Files below node_modules that may import it. */
  importers: readonly string[]
  /** Why the code never runs, or why the replacement is equivalent. */
  reason: string
  /** Source of the module that replaces it. */
  module: string
}

/** Packages and the versions whose use of the modules below was read. */
const CHECKED = {
  mailauth: '7.1.0',
  libmime: '5.4.6',
  joi: '18.2.9',
  elysia: '1.4.30',
  'exact-mirror': '0.2.7',
  '@simplewebauthn/server': '14.0.3',
}

/** A value that throws when a property is read or when it is called. */
const ABSENT = `const absent = (name) => {
    const fail = () => { throw new Error(name + ' is not part of this program (scripts/build/unused.ts)') }
    return new Proxy(fail, { get: fail, apply: fail, construct: fail })
  }`

const ATTESTATION = `Postrider asks for no attestation (src/api/sign-in/webauthn.ts). Browsers then send the format "none",
  or "packed" without certificates (WebAuthn §5.1.3). Any other answer throws, and the passkey is refused.`

/** Modules of @simplewebauthn/server that check certificates of devices, with what they export, by the files that import
 *  them. */
const OF_ATTESTATION: Record<string, Record<string, string>> = {
  'index.js': { './services/metadataService.js': 'MetadataService' },
  'registration/verifyRegistrationResponse.js': {
    './verifications/verifyAttestationFIDOU2F.js': 'verifyAttestationFIDOU2F',
    './verifications/verifyAttestationAndroidSafetyNet.js': 'verifyAttestationAndroidSafetyNet',
    './verifications/tpm/verifyAttestationTPM.js': 'verifyAttestationTPM',
    './verifications/verifyAttestationAndroidKey.js': 'verifyAttestationAndroidKey',
    './verifications/verifyAttestationApple.js': 'verifyAttestationApple',
  },
  'registration/verifications/verifyAttestationPacked.js': {
    '../../helpers/validateCertificatePath.js': 'validateCertificatePath',
    '../../helpers/getCertificateInfo.js': 'getCertificateInfo',
    '../../helpers/validateExtFIDOGenCEAAGUID.js': 'validateExtFIDOGenCEAAGUID',
    '../../metadata/verifyAttestationWithMetadata.js': 'verifyAttestationWithMetadata',
    '../../services/metadataService.js': 'MetadataService',
  },
  'helpers/verifySignature.js': { './convertX509PublicKeyToCOSE.js': 'convertX509PublicKeyToCOSE' },
  'helpers/index.js': {
    './getCertificateInfo.js': 'getCertificateInfo',
    './isCertRevoked.js': 'isCertRevoked',
    './validateCertificatePath.js': 'validateCertificatePath',
    '../metadata/verifyMDSBlob.js': 'verifyMDSBlob',
  },
}

const ELYSIA_SCHEMA = `Elysia calls it for routes with a TypeBox schema. Postrider's routes have none: zod checks requests.`

export const UNUSED: readonly Unused[] = [
  {
    specifier: 'joi',
    importers: ['mailauth/lib/tools.js', 'mailauth/lib/spf/index.js'],
    reason: 'mailauth validates with two schemas. joi-schemas.cjs has the same verdicts (joi-schemas.test.ts).',
    module: readFileSync(join(import.meta.dir, 'joi-schemas.cjs'), 'utf8'),
  },
  {
    specifier: 'encoding-japanese',
    importers: ['libmime/lib/charset.js'],
    reason: 'The modules of mailauth that are used call one function of libmime, foldLines, which decodes nothing.',
    module: `exports.convert = () => { throw new Error('encoding-japanese is not part of this program') }`,
  },
  {
    specifier: './mimetypes',
    importers: ['libmime/lib/libmime.js'],
    reason: 'Only detectMimeType and detectExtension read it. mailauth calls neither.',
    module: `${ABSENT}\nmodule.exports = absent('libmime/lib/mimetypes')`,
  },
  {
    specifier: 'file-type',
    importers: ['elysia/dist/type-system/utils.mjs'],
    reason: 'Elysia loads it to check the type of uploaded files against a TypeBox schema. Postrider has none.',
    module: `${ABSENT}\nexport const fileTypeFromBlob = absent('file-type')`,
  },
  {
    specifier: '@sinclair/typebox/value',
    importers: ['error', 'schema', 'compose', 'dynamic-handle', 'type-system/utils'].map(ofElysia),
    reason: ELYSIA_SCHEMA,
    // Elysia's error handler tests each error with `instanceof`.
    module: `${ABSENT}\nexport const Value = absent('TypeBox')\nexport class TransformDecodeError extends Error {}`,
  },
  {
    specifier: '@sinclair/typebox/compiler',
    importers: [...['schema', 'type-system/index', 'type-system/utils'].map(ofElysia), 'exact-mirror/dist/index.mjs'],
    reason: ELYSIA_SCHEMA,
    module: `${ABSENT}\nexport const TypeCompiler = absent('TypeBox')\nexport class TypeCheck {}`,
  },
  {
    specifier: './unwrapEC2Signature.js',
    importers: ['@simplewebauthn/server/esm/helpers/iso/isoCrypto/verify.js'],
    reason: 'It needs 130 KB of ASN.1 packages. ecdsa-signature.mjs returns the same (ecdsa-signature.test.ts).',
    module: readFileSync(join(import.meta.dir, 'ecdsa-signature.mjs'), 'utf8'),
  },
  ...Object.entries(OF_ATTESTATION).flatMap(([importer, modules]) =>
    Object.entries(modules).map(([specifier, name]) => ({
      specifier,
      importers: [`@simplewebauthn/server/esm/${importer}`],
      reason: ATTESTATION,
      module: `${ABSENT}\nexport const ${name} = absent('${name}')`,
    })),
  ),
]

/** True for a module that only @simplewebauthn/server imports. */
export const isOfPasskeys = ({ importers }: Unused): boolean =>
  importers.every((each) => each.startsWith('@simplewebauthn/server/'))

/** Functions of libmime that mailauth may call: the reasons above hold for these. */
const LIBMIME_CALLS = ['foldLines']

/** Replaces the modules of UNUSED. The build fails when a package has another version than the one checked, when another
 *  file imports such a module, when a replaced import no longer exists, and when mailauth calls more of libmime. `ofBuild`
 *  chooses the replacements of a build that has only some of the packages. */
export function withoutUnused(root: string, ofBuild: (unused: Unused) => boolean = () => true): Bun.BunPlugin {
  const modules = join(root, 'node_modules')
  const wanted = UNUSED.filter(ofBuild)
  const seen = new Set<Unused>()
  return {
    name: 'without unused modules',
    setup: (build) => {
      checkVersions(modules)
      for (const [index, unused] of wanted.entries()) {
        const filter = new RegExp(`^${unused.specifier.replaceAll(/[.]/g, '\\.')}$`)
        build.onResolve({ filter }, ({ importer }) => {
          const file = relative(modules, importer)
          if (unused.importers.includes(file)) {
            seen.add(unused)
            return { path: String(index), namespace: 'unused' }
          }
          // Another package's own ./mimetypes.
          if (unused.specifier.startsWith('.')) return undefined
          throw new Error(`${file} imports ${unused.specifier}, which scripts/build/unused.ts replaces`)
        })
      }
      build.onLoad({ filter: /./, namespace: 'unused' }, ({ path }) => ({
        contents: wanted[Number(path)]?.module ?? '',
        loader: 'js',
      }))
      build.onLoad({ filter: /node_modules\/mailauth\/lib\/.*\.js$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8')
        for (const [, name = ''] of contents.matchAll(/\blibmime\.(\w+)/g)) {
          if (!LIBMIME_CALLS.includes(name)) throw new Error(`${relative(modules, path)} calls libmime.${name}`)
        }
        return { contents: packageWithShortNames(contents), loader: 'js' }
      })
      build.onEnd(() => {
        const missing = wanted.find((unused) => !seen.has(unused))
        if (missing !== undefined) throw new Error(`nothing imports ${missing.specifier}; remove it from unused.ts`)
      })
    },
  }
}

function ofElysia(name: string): string {
  return `elysia/dist/${name}.mjs`
}

function checkVersions(modules: string): void {
  for (const [name, version] of Object.entries(CHECKED)) {
    const { version: found } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
    if (found !== version) throw new Error(`unused.ts was checked with ${name} ${version}; found ${found}`)
  }
}
