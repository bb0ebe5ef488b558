import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate authority with openssl, so that another implementation reads our requests and signs. */
export interface TestCa {
  /** Its own certificate, PEM. */
  certificatePem: string
  /** A request, DER → the DNS names in it; throws when its signature is not by its own key. */
  namesIn(csr: Uint8Array): string[]
  /** A request → its certificate from `startsAt` to `endsAt` (ms UTC), followed by the authority's, PEM. */
  sign(csr: Uint8Array, time: { startsAt: number; endsAt: number }): string
  remove(): void
}

export function createTestCa(): TestCa {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-ca-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(['openssl', ...args], { cwd: folder, stdin: 'ignore' })
    if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
    return `${stdout}${stderr}`
  }
  const subject = ['-subj', '/CN=Test Authority', '-days', '20000']
  const constraints = ['-addext', 'basicConstraints=critical,CA:true', '-addext', 'keyUsage=critical,keyCertSign']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('ca.key')]
  openssl('req', '-x509', '-batch', ...key, ...subject, ...constraints, '-out', file('ca.pem'))
  writeFileSync(file('index.txt'), '')
  writeFileSync(file('serial'), '1000\n')
  writeFileSync(file('ca.cnf'), CONFIG)
  const certificatePem = readFileSync(file('ca.pem'), 'utf8')

  return {
    certificatePem,
    namesIn: (csr) => {
      writeFileSync(file('csr.der'), csr)
      const text = openssl('req', '-inform', 'DER', '-in', 'csr.der', '-noout', '-text', '-verify')
      if (!/verify OK/i.test(text)) throw new Error('the request is not signed by its key')
      return [...text.matchAll(/DNS:([^\s,]+)/g)].map(([, name]) => name!)
    },
    sign: (csr, { startsAt, endsAt }) => {
      writeFileSync(file('csr.der'), csr)
      openssl('req', '-inform', 'DER', '-in', 'csr.der', '-out', 'csr.pem')
      const time = ['-startdate', asn1Time(startsAt), '-enddate', asn1Time(endsAt)]
      openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', ...time, '-in', 'csr.pem', '-out', 'made.pem')
      return readFileSync(file('made.pem'), 'utf8') + certificatePem
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const CONFIG = `[ca]
default_ca = test
[test]
database = index.txt
new_certs_dir = .
serial = serial
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
x509_extensions = server
[any]
commonName = optional
[server]
basicConstraints = critical,CA:false
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
`

/** YYYYMMDDHHMMSSZ */
const asn1Time = (ms: number) => `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
