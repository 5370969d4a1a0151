import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ReleasedMigrations, releasedFile } from '../tidy/released.ts'

type Release = { root: string; version: string; date: string }

const unreleased = '## Unreleased\n'

/**
 * Writes what a release changes: the version, the heading of its changes, the sums of its migrations, and the name of the packed file in the
 * documents. Checks everything before it writes anything.
 */
export function prepareRelease({ root, version, date }: Release): string[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const manifest = JSON.parse(read('package.json')) as { name: string; version: string }
  requireNewer(version, manifest.version, Object.values(releasedIn(root)))
  const changes = changesOf(read('CHANGELOG.md'), version, date)
  const released = withMigrations(root, version)
  const packed = (of: string) => `${manifest.name}-${of}.tgz`
  const documents = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .filter((path) => read(path).includes(packed(manifest.version)))
  const texts: Record<string, string> = {
    'package.json': withVersion(read('package.json'), manifest.version, version, 1),
    'package-lock.json': withVersion(read('package-lock.json'), manifest.version, version, 2),
    'CHANGELOG.md': changes,
    [releasedFile]: `${JSON.stringify(released, undefined, 2)}\n`,
  }
  for (const path of documents) texts[path] = read(path).replaceAll(packed(manifest.version), packed(version))
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(root, path), text)
  return Object.keys(texts)
}

const releasedIn = (root: string): ReleasedMigrations =>
  existsSync(join(root, releasedFile)) ? JSON.parse(readFileSync(join(root, releasedFile), 'utf8')) : {}

const versionPattern = /^(\d+)\.(\d+)\.(\d+)$/

function requireNewer(version: string, current: string, released: readonly { since: string }[]): void {
  if (!versionPattern.test(version))
    throw new Error(`"${version}" is no version: give three numbers, such as 1.4.0`)
  if (compare(version, current) < 0) throw new Error(`${version} is below ${current} of package.json`)
  const newest = released
    .map(({ since }) => since)
    .sort(compare)
    .at(-1)
  if (newest !== undefined && compare(version, newest) <= 0)
    throw new Error(`${version} is not above ${newest}, which was released`)
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => versionPattern.exec(text)!.slice(1).map(Number))
  const place = a!.findIndex((number, index) => number !== b![index])
  return place < 0 ? 0 : a![place]! - b![place]!
}

/** The changes with a heading of the release, below one for what comes next. */
function changesOf(text: string, version: string, date: string): string {
  const start = text.indexOf(unreleased)
  if (start < 0) throw new Error(`CHANGELOG.md has no "${unreleased.trim()}"`)
  const rest = text.slice(start + unreleased.length)
  const [own = ''] = rest.split(/^## /m)
  if (!/^- /m.test(own)) throw new Error(`CHANGELOG.md names no change under "${unreleased.trim()}"`)
  return `${text.slice(0, start)}${unreleased}\n## ${version} (${date})\n${rest}`
}

/** The first fields of that name: of the package itself, and in a lock file once more of its root. */
function withVersion(text: string, from: string, to: string, count: number): string {
  let left = count
  return text.replace(/"version": "([^"]+)"/g, (found, version) =>
    left-- > 0 && version === from ? `"version": "${to}"` : found,
  )
}

function withMigrations(root: string, version: string): ReleasedMigrations {
  const released = { ...releasedIn(root) }
  const names = readdirSync(join(root, 'migrations')).filter((name) => /^\d{4}_.*\.sql$/.test(name))
  for (const name of names.sort())
    released[name] ??= {
      since: version,
      sha256: createHash('sha256')
        .update(readFileSync(join(root, 'migrations', name)))
        .digest('hex'),
    }
  return released
}
