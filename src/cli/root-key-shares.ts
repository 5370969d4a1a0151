import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  joinRootKey,
  rootKeyFingerprint,
  type ShareCounts,
  SharesRefused,
  sharesMax,
  splitRootKey,
} from '#custody/root-key/index'
import { makeDirectory } from '#runtime/make-directory'
import { readRootKeys } from '#runtime/root-key'
import { numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { configOf } from './connection.ts'
import { openNewFile } from './new-file.ts'
import { printRow, printRows } from './table.ts'

/** Writes shares of the root key of this machine, and prints the names of their files. */
export async function splitKey(args: ParsedArgs): Promise<void> {
  const counts = countsOf(args)
  const directory = outOf(args, 'the directory of the shares')
  const [rootKey, other] = await readRootKeys(configOf(args, { logLevel: 'error' }))
  if (other)
    throw new UsageError(
      'there are two root keys, as during a rotation: put the one to split alone in a file, and name it by BEZANT_ROOT_KEY_FILE',
    )
  if (!rootKey)
    throw new UsageError(
      'no root key is here to split: the service that BEZANT_ROOT_KEY_SERVICE names wraps that of the database, and has to be backed up itself',
    )
  const fingerprint = rootKeyFingerprint(rootKey)
  const lines = await splitRootKey(rootKey, counts)
  await makeDirectory(directory)
  const rows = []
  for (const [index, line] of lines.entries()) {
    const share = index + 1
    const file = join(directory, `share-${share}-of-${counts.shares}.txt`)
    await writeSecret(file, shareText(share, counts, fingerprint, line))
    rows.push({ share, file, fingerprint })
  }
  printRows(args, rows, ['share', 'file', 'fingerprint'])
}

/** Joins the shares of the standard input, and writes the root key. */
export async function joinShares(args: ParsedArgs): Promise<void> {
  const file = outOf(args, 'the file of the key')
  const rootKey = await joinRootKey(await text(process.stdin)).catch((error: Error) => {
    throw error instanceof SharesRefused ? new UsageError(error.message) : error
  })
  const line = `${rootKey.toString('hex')}\n`
  if (file === '-') return void process.stdout.write(line)
  await writeSecret(file, line)
  printRow(args, { file, fingerprint: rootKeyFingerprint(rootKey) })
}

function countsOf(args: ParsedArgs): ShareCounts {
  const [shares, threshold] = [
    numberFlag(args, 'shares', sharesMax),
    numberFlag(args, 'threshold', sharesMax),
  ]
  if (shares === undefined || threshold === undefined)
    throw new UsageError('split needs --shares and --threshold, such as --shares 5 --threshold 3')
  if (threshold < 2 || threshold > shares)
    throw new UsageError(
      `--threshold must be from 2 to the number of shares, not ${threshold} of ${shares}: with 1, each share would be the key`,
    )
  return { shares, threshold }
}

function outOf(args: ParsedArgs, about: string): string {
  const path = textFlag(args, 'out')
  if (path === undefined || path === '') throw new UsageError(`--out is missing: it names ${about}`)
  return path
}

/** Writes a new file that its owner alone reads, synced to disk. */
async function writeSecret(path: string, content: string): Promise<void> {
  const file = await openNewFile(path, 'name another place')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

const shareText = (share: number, { shares, threshold }: ShareCounts, fingerprint: string, line: string) =>
  `Share ${share} of ${shares} of the root key of a Bezant installation.

Any ${threshold} of the ${shares} shares give the key back. Fewer say nothing about it.
Keep this share apart from the others and from backups of the database, and show it to no other person.
Fingerprint of the key: ${fingerprint}. "bezant root-key list" shows that of each root key of a database.

To get the key back, bring ${threshold} shares together, and run:

  cat share-*-of-${shares}.txt | bezant root-key join --out root.key

${line}
`
