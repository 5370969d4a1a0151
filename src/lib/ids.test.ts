import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUuid, nameId, newId } from './ids.ts'

const dnsNamespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

describe('ids', () => {
  it('newId is a UUID version 7 that starts with its instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (atMs) => {
        const id = newId(atMs)
        expect(isUuid(id)).toBe(true)
        expect(id[14]).toBe('7')
        expect('89ab').toContain(id[19])
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(atMs)
      }),
    )
  })

  it('ids of one process sort in creation order, also within one millisecond', () => {
    for (let millisecond = 1; millisecond < 20; millisecond++) {
      const ids = Array.from({ length: 1_000 }, () => newId(1_790_000_000_000 + millisecond))
      expect([...ids].sort()).toEqual(ids)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })

  it('ids sort in creation order also when two tasks of different milliseconds alternate', () => {
    const [early, late]: [string[], string[]] = [[], []]
    for (let turn = 0; turn < 2_000; turn++) {
      early.push(newId(1_790_000_001_000))
      late.push(newId(1_790_000_001_001))
    }
    expect([...early].sort()).toEqual(early)
    expect([...late].sort()).toEqual(late)
  })

  it('ten thousand ids of one millisecond sort in creation order', () => {
    const ids = Array.from({ length: 10_000 }, () => newId(1_790_000_002_000))
    expect([...ids].sort()).toEqual(ids)
  })

  it('nameId is the version 5 of RFC 9562', () => {
    expect(nameId(dnsNamespace, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
    fc.assert(
      fc.property(fc.uuid(), fc.string(), (namespace, name) => {
        expect(nameId(namespace, name)).toBe(nameId(namespace.toUpperCase(), name))
        expect(nameId(namespace, name)[14]).toBe('5')
      }),
    )
  })

  it('isUuid accepts any version in either case and nothing else', () => {
    fc.assert(fc.property(fc.uuid(), (id) => isUuid(id) && isUuid(id.toUpperCase())))
    fc.assert(fc.property(fc.anything(), (value) => typeof value === 'string' || !isUuid(value)))
    fc.assert(
      fc.property(fc.uuid(), fc.nat(36), fc.constantFrom('', 'g', '\n', ' ', '0', '{'), (id, at, junk) => {
        expect(isUuid(id.slice(0, at) + junk + id.slice(at))).toBe(junk === '')
      }),
    )
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true)
    expect(isUuid(`${newId(0)}\n`)).toBe(false)
  })
})
