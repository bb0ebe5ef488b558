/** Programs → one image archive for both processors. No daemon is needed: the archive is a tar of JSON and layers.
 *
 *  The base is Debian packages of fixed checksums, of which the image has the shared libraries that the program loads: 15 MB,
 *  where Debian's slim image has 75 MB with a shell and a package manager. Half of it is the cryptography of OpenSSL, with which
 *  RSA signatures take half the time (sending/outbound/system-rsa.ts). No base image is downloaded, because an archive of packages
 *  keeps old versions, and a tag of a registry moves. The build of Bun for musl would be smaller, but needs a C++ library that
 *  only Alpine has.
 *
 *  So a security update of these libraries needs a release (`image/renew.ts`). The image contains Debian's description of each
 *  package, so that scanners see the versions. CA certificates and time zones are missing, because the runtime has its own.
 *
 *  Readers: `docker load` of a Docker with containerd's image store, `podman load`, containerd and skopeo read index.json,
 *  where one name is both images. Other versions of Docker read manifest.json, which cannot express this, so each processor
 *  has a name of its own. Sources: OCI Image Format 1.1; Docker Image Specification 1.3, "Combined Image JSON". */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { GZIP } from '../package/gzip.ts'
import { imageConfig } from './image/config.ts'
import { debianFiles, type Processor } from './image/debian.ts'
import { programLayer, system } from './image/files.ts'
import { type LayerEntry, layerOf } from './image/layer.ts'

export interface ImageSource {
  /** Paths of the programs. */
  programs: Partial<Record<Processor, string>>
  version: string
  revision: string
  licence: string
  /** Seconds since 1970. */
  time: number
}

const DEBIAN_NAMES = { x64: 'amd64', arm64: 'arm64' }
const TYPE = 'application/vnd.oci.image'

interface Described {
  mediaType: string
  digest: string
  size: number
}

/** Writes the archive to `file`. Throws when a Debian package cannot be downloaded. */
export function writeImage(file: string, source: ImageSource): void {
  const blobs = new Map<string, Uint8Array>()
  const add = (mediaType: string, content: Uint8Array): Described => {
    const digest = sha256(content)
    blobs.set(digest, content)
    return { mediaType: `${TYPE}.${mediaType}`, digest: `sha256:${digest}`, size: content.length }
  }
  const images = (Object.keys(source.programs) as Processor[]).map((processor) => oneImage(processor, source, add))
  const manifests = images.map(({ manifest, architecture }) => ({
    ...manifest,
    platform: { architecture, os: 'linux' },
  }))
  const both = add('index.v1+json', json({ schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests }))
  const name = `postrider:${source.version}`
  const annotations = {
    'org.opencontainers.image.ref.name': name,
    'io.containerd.image.name': `docker.io/library/${name}`,
  }
  const index = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: [{ ...both, annotations }] }
  const forDocker = images.map(({ config, layers, architecture }) => ({
    Config: pathOf(config),
    RepoTags: [`${name}-${architecture}`],
    Layers: layers.map(pathOf),
  }))
  const entries: LayerEntry[] = [
    { path: 'oci-layout', type: 'file', content: json({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', type: 'file', content: json(index) },
    { path: 'manifest.json', type: 'file', content: json(forDocker) },
    ...[...blobs]
      .sort()
      .map(([digest, content]): LayerEntry => ({ path: `blobs/sha256/${digest}`, type: 'file', content })),
  ]
  writeFileSync(file, layerOf(entries, source.time))
}

function oneImage(processor: Processor, source: ImageSource, add: (type: string, content: Uint8Array) => Described) {
  const program = readFileSync(source.programs[processor]!)
  const contents = [[...system, ...debianFiles(processor)], programLayer(program, source.licence)].map((entries) =>
    layerOf(entries, source.time),
  )
  const layers = contents.map((content) => add('layer.v1.tar+gzip', Bun.gzipSync(content, GZIP)))
  const architecture = DEBIAN_NAMES[processor]
  const diffIds = contents.map((content) => `sha256:${sha256(content)}`)
  const config = add('config.v1+json', json(imageConfig({ ...source, architecture, diffIds })))
  const manifest = add(
    'manifest.v1+json',
    json({ schemaVersion: 2, mediaType: `${TYPE}.manifest.v1+json`, config, layers }),
  )
  return { config, layers, manifest, architecture }
}

const pathOf = ({ digest }: Described) => `blobs/${digest.replace(':', '/')}`
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
