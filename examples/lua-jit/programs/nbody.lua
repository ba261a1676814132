-- The n-body simulation of the Computer Language Benchmarks Game: bodies are
-- tables with fields, and the pairs' forces are summed over arrays of numbers.
local steps --[[: integer]] = math.tointeger(... or 300000)

local pi = 3.141592653589793
local solar --[[: number]] = 4 * pi * pi
local days --[[: number]] = 365.24

local function body(x, y, z, vx, vy, vz, mass)
  return { x = x, y = y, z = z, vx = vx * days, vy = vy * days, vz = vz * days, mass = mass * solar }
end

local bodies = {
  body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
  body(4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
    1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05,
    9.54791938424326609e-04),
  body(8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
    -2.76742510726411046e-03, 4.99852801234917238e-03, 2.30417297573763929e-05,
    2.85885980666130812e-04),
  body(1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
    2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05,
    4.36624404335156298e-05),
  body(1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
    2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05,
    5.15138902046611451e-05),
}

local function offset_momentum(bodies, n --[[: integer]])
  local px --[[: number]], py --[[: number]], pz --[[: number]] = 0.0, 0.0, 0.0
  for i = 1, n do
    local b = bodies[i]
    px = px + b.vx * b.mass
    py = py + b.vy * b.mass
    pz = pz + b.vz * b.mass
  end
  local sun = bodies[1]
  sun.vx, sun.vy, sun.vz = -px / solar, -py / solar, -pz / solar
end

local function energy(bodies, n --[[: integer]])
  local e --[[: number]] = 0.0
  for i = 1, n do
    local b = bodies[i]
    e = e + 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
    for j = i + 1, n do
      local c = bodies[j]
      local dx, dy, dz = b.x - c.x, b.y - c.y, b.z - c.z
      e = e - b.mass * c.mass / (dx * dx + dy * dy + dz * dz) ^ 0.5
    end
  end
  return e
end

-- The positions and velocities in arrays of numbers while the steps are made.
local function simulate(bodies, n --[[: integer]], steps --[[: integer]], dt --[[: number]])
  local x --[[: number[] ]], y --[[: number[] ]], z --[[: number[] ]] = {}, {}, {}
  local vx --[[: number[] ]], vy --[[: number[] ]], vz --[[: number[] ]] = {}, {}, {}
  local mass --[[: number[] ]] = {}
  for i = 1, n do
    local b = bodies[i]
    x[i], y[i], z[i] = b.x, b.y, b.z
    vx[i], vy[i], vz[i] = b.vx, b.vy, b.vz
    mass[i] = b.mass
  end
  for _ = 1, steps do
    for i = 1, n do
      local mi --[[: number]] = mass[i]
      for j = i + 1, n do
        local dx --[[: number]] = x[i] - x[j]
        local dy --[[: number]] = y[i] - y[j]
        local dz --[[: number]] = z[i] - z[j]
        local d2 --[[: number]] = dx * dx + dy * dy + dz * dz
        local mag --[[: number]] = dt / (d2 * d2 ^ 0.5)
        local mj --[[: number]] = mass[j] * mag
        vx[i] = vx[i] - dx * mj
        vy[i] = vy[i] - dy * mj
        vz[i] = vz[i] - dz * mj
        local m --[[: number]] = mi * mag
        vx[j] = vx[j] + dx * m
        vy[j] = vy[j] + dy * m
        vz[j] = vz[j] + dz * m
      end
    end
    for i = 1, n do
      x[i] = x[i] + dt * vx[i]
      y[i] = y[i] + dt * vy[i]
      z[i] = z[i] + dt * vz[i]
    end
  end
  for i = 1, n do
    local b = bodies[i]
    b.x, b.y, b.z = x[i], y[i], z[i]
    b.vx, b.vy, b.vz = vx[i], vy[i], vz[i]
  end
end

offset_momentum(bodies, #bodies)
print(energy(bodies, #bodies))
simulate(bodies, #bodies, steps, 0.01)
print(energy(bodies, #bodies))
