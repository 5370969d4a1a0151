import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from './config.ts'

let folder: string
const key = 'ab'.repeat(32)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bezant-settings-'))
  writeFileSync(join(folder, 'key'), `${key}\n`)
  writeFileSync(join(folder, 'url'), 'postgresql://app:secret@db.example.com/bezant')
  writeFileSync(join(folder, 'empty'), '\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (environment: Record<string, string>) => readConfig({}, environment)

it('a setting is read from the file that its name with _FILE names', () => {
  const config = read({
    BEZANT_ROOT_KEY_FILE: join(folder, 'key'),
    DATABASE_URL_FILE: join(folder, 'url'),
    BEZANT_HOST: '::1',
  })
  expect(config).toMatchObject({
    databaseUrl: 'postgresql://app:secret@db.example.com/bezant',
    host: '::1',
    unknownSettings: [],
  })
  expect(config.rootKeys?.[0]?.toString('hex')).toBe(key)
})

it('a file that is missing, empty or beside the setting itself is refused with the name of the variable', () => {
  expect(() => read({ BEZANT_ROOT_KEY_FILE: join(folder, 'none') })).toThrow(
    /^BEZANT_ROOT_KEY_FILE names a file that cannot be read \(ENOENT.*none'\): correct the path/,
  )
  expect(() => read({ BEZANT_ROOT_KEY_FILE: join(folder, 'empty') })).toThrow(/names an empty file/)
  expect(() => read({ BEZANT_ROOT_KEY_FILE: join(folder, 'key'), BEZANT_ROOT_KEY: key })).toThrow(
    'BEZANT_ROOT_KEY and BEZANT_ROOT_KEY_FILE are both set: set one of them',
  )
  expect(read({ BEZANT_ROOTKEY_FILE: join(folder, 'key') }).unknownSettings).toEqual(['BEZANT_ROOTKEY_FILE'])
})
