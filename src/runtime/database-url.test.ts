import { expect, it } from 'vitest'
import { parseDatabaseUrl } from './database-url.ts'

it('reads one server as the driver does, and needs no primary there', () => {
  const url = 'postgresql://user:p%40ss@db.example.com/name?sslmode=require'
  expect(parseDatabaseUrl(url)).toEqual({
    first: url,
    servers: [{ host: 'db.example.com', port: 5432 }],
    needsPrimary: false,
  })
  expect(parseDatabaseUrl('postgresql://postgres@localhost/postgres?host=/run/postgresql').first).toContain(
    'host=/run/postgresql',
  )
})

it('reads several servers, and what a connection must be for', () => {
  expect(
    parseDatabaseUrl('postgresql://u@one:5433,[::1]:6000,three/name?target_session_attrs=read-write&ssl=1'),
  ).toEqual({
    first: 'postgresql://u@one:5433/name?ssl=1',
    servers: [
      { host: 'one', port: 5433 },
      { host: '::1', port: 6000 },
      { host: 'three', port: 5432 },
    ],
    needsPrimary: true,
  })
  expect(parseDatabaseUrl('postgres://one/name?target_session_attrs=primary').needsPrimary).toBe(true)
})

it.each([
  ['mysql://a/b', 'must be the address of a PostgreSQL'],
  ['postgresql://u@one,/name', '"" is no server'],
  ['postgresql://u@one,two:x/name', '"two:x" is no server'],
  ['postgresql://u@one,two/name?target_session_attrs=any', 'must be read-write or primary'],
])('refuses %s, and names what is wrong', (url, reason) => {
  expect(() => parseDatabaseUrl(url)).toThrow(reason)
})
